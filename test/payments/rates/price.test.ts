import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parsePrice } from '#payments/rates/price.ts';

test.each([
  ['100000', 100_000n * 10n ** 18n],
  ['100000.10', 1_000_001n * 10n ** 17n],
  ['0.326363', 326_363n * 10n ** 12n],
  ['1.000000000000000001', 10n ** 18n + 1n],
  ['90071992.54740993', 9_007_199_254_740_993n * 10n ** 10n],
])('reads %s exactly', (text, price) => {
  expect(parsePrice(text)).toBe(price);
});

test.each([
  [''],
  [' 1'],
  ['1 '],
  ['+1'],
  ['-1'],
  ['-0.5'],
  ['0'],
  ['0.000'],
  ['01'],
  ['.5'],
  ['5.'],
  ['1,000'],
  ['1e5'],
  ['1E-2'],
  ['0x10'],
  ['NaN'],
  ['Infinity'],
  ['١'],
  ['1\n'],
  ['1.0000000000000000001'],
  // Below a millionth of a dollar, above a hundred million.
  ['0.000000999'],
  ['100000000.01'],
  ['9'.repeat(400)],
  [1],
  [100000.5],
  [1n],
  [null],
  [undefined],
  [true],
  [['1']],
  [{ price: '1' }],
])('refuses %s', value => {
  expect(parsePrice(value)).toBeUndefined();
});

test('reads back every price that it can represent', () => {
  fc.assert(
    fc.property(fc.bigInt(10n ** 12n, 10n ** 26n), price => {
      const digits = price.toString().padStart(19, '0');
      expect(parsePrice(`${digits.slice(0, -18)}.${digits.slice(-18)}`)).toBe(price);
    }),
  );
});
