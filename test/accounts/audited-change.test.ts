import { expect, test } from 'vitest';
import { columnsToSet } from '#accounts/audit/audited-change.ts';

test('a change keeps what is given, null included', () => {
  expect(columnsToSet({ name: 'A', partner: null, status: undefined })).toEqual({
    name: 'A',
    partner: null,
  });
});

test('a change of nothing is refused in words that fit every caller', () => {
  expect(() => columnsToSet({ name: undefined })).toThrow('Nothing to change');
  expect(() => columnsToSet({ name: undefined })).not.toThrow(/flag|--/);
});
