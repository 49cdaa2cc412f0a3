import { expect, test } from 'vitest';
import { takeRandomBytes } from '#crypto/random-bytes.ts';

test('no two callers get the same bytes, however many are taken', () => {
  const taken = Array.from({ length: 2_000 }, (_, index) =>
    takeRandomBytes(8 + (index % 41)).toString('hex'),
  );
  expect(new Set(taken).size).toBe(taken.length);
  const starts = new Set(taken.map(each => each.slice(0, 16)));
  expect(starts.size).toBe(taken.length);
  for (const [index, each] of taken.entries()) expect(each).toHaveLength(2 * (8 + (index % 41)));
});

test('more bytes than the pool has are refused, and the next ones are intact', () => {
  expect(takeRandomBytes(4_096)).toHaveLength(4_096);
  expect(() => takeRandomBytes(4_097)).toThrow(RangeError);
  expect(takeRandomBytes(32)).toHaveLength(32);
});
