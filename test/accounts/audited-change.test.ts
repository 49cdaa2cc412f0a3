import { expect, test } from 'vitest';
import { columnsToSet } from '#accounts/audit/audited-change.ts';

test('a change keeps the given values, including null', () => {
  expect(columnsToSet({ name: 'A', partner: null, status: undefined })).toEqual({
    name: 'A',
    partner: null,
  });
});

test('a change without values is refused with a message that suits every caller', () => {
  expect(() => columnsToSet({ name: undefined })).toThrow('Nothing to change');
  expect(() => columnsToSet({ name: undefined })).not.toThrow(/flag|--/);
});
