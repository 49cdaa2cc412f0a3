import fc from 'fast-check';
import { expect, test } from 'vitest';
import { editsBetween, nearest } from '#http/edit-distance.ts';

test.each([
  ['redirect_url', 'redirectUrl'],
  ['redirectURL', 'redirectUrl'],
  ['ammount', 'amount'],
  ['amoutn', 'amount'],
  ['customerReferenceID', 'customerReferenceId'],
])('%s is corrected to %s', (written, meant) => {
  expect(nearest(written, ['amount', 'redirectUrl', 'customerReferenceId', 'note'])).toBe(meant);
});

test.each(['payer', '', 'x', 'amountInCents', '__proto__', 'a'.repeat(10_000)])(
  '%s is not corrected',
  written => {
    expect(nearest(written, ['amount', 'note', 'id', 'limit'])).toBeUndefined();
  },
);

const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 });

test('edits are counted alike from both ends, and one edit is one', () => {
  fc.assert(
    fc.property(text, text, fc.nat(8), (one, other, at) => {
      expect(editsBetween(one, other)).toBe(editsBetween(other, one));
      expect(editsBetween(one, other) === 0).toBe(one === other);
      const changed = `${one.slice(0, at)}x${one.slice(at)}`;
      expect(editsBetween(one, changed)).toBe(1);
      expect(editsBetween(`${changed}yy`, one)).toBeUndefined();
    }),
  );
});
