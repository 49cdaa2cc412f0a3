import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toCents, toDollars, toDollarText } from '#payments/dollars.ts';
import { AMOUNT_MAXIMUM_CENTS, AMOUNT_MINIMUM_CENTS } from '#schemas/create-payment.ts';

/** Whether an amount survives the round trip through an old client. */
function roundTrip(cents: number): boolean {
  const text = toDollarText(cents);
  const sent = toCents(JSON.parse(text));
  const back = JSON.parse(JSON.stringify(toDollars(cents)));
  return sent === cents && toCents(back) === cents && back.toFixed(2) === text;
}

/** The first amount that does not survive, so that a failure takes one line. */
function firstBroken(from: number, to: number): number | undefined {
  for (let cents = from; cents <= to; cents++) if (!roundTrip(cents)) return cents;
  return undefined;
}

describe('every cent round-trips', () => {
  test.each([
    ['0.50 to 1,000.00', AMOUNT_MINIMUM_CENTS, 100_000],
    ['10,485.00 to 10,486.99, around 2^20 cents', 1_048_500, 1_048_699],
    ['65,535.00 to 65,537.00', 6_553_500, 6_553_700],
    ['999,900.00 to 1,000,000.00', 99_990_000, AMOUNT_MAXIMUM_CENTS],
  ])('of %s', (_name, from, to) => {
    expect(firstBroken(from, to)).toBeUndefined();
  });

  test('anywhere in the range', () => {
    fc.assert(
      fc.property(fc.integer({ min: AMOUNT_MINIMUM_CENTS, max: AMOUNT_MAXIMUM_CENTS }), roundTrip),
      { numRuns: 5_000 },
    );
  });
});

describe('a number is read as it is written', () => {
  test.each([
    ['0.29', 29],
    ['0.57', 57],
    ['0.58', 58],
    ['1.1', 110],
    ['1.10', 110],
    ['1.15', 115],
    ['4.35', 435],
    ['8.2', 820],
    ['19.99', 1999],
    ['1e3', 1000_00],
    ['1E3', 1000_00],
    ['5e-1', 50],
    ['100.000', 100_00],
    ['1000000', 1_000_000_00],
    ['0.5', 50],
    ['9007199254740.99', 900719925474099],
  ])('%s', (text, cents) => {
    expect(toCents(JSON.parse(text))).toBe(cents);
  });

  test.each(['0.001', '1.005', '19.999', '1e-3', '-1', '-0.5', '1e21', '1e999', '0.1234'])(
    '%s is no amount of whole cents',
    text => {
      expect(toCents(JSON.parse(text))).toBeUndefined();
    },
  );

  test('a value that is no finite, safe number is no amount', () => {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, Number.MAX_SAFE_INTEGER]) {
      expect(toCents(value)).toBeUndefined();
    }
  });

  test('any third decimal is refused', () => {
    fc.assert(
      fc.property(fc.integer({ min: 500, max: 1_000_000_000 }), mills => {
        const cents = toCents(
          JSON.parse(`${Math.floor(mills / 1000)}.${String(mills % 1000).padStart(3, '0')}`),
        );
        return mills % 10 === 0 ? cents === mills / 10 : cents === undefined;
      }),
    );
  });
});

test.each([
  [0, '0.00'],
  [5, '0.05'],
  [50, '0.50'],
  [110, '1.10'],
  [100_000_000, '1000000.00'],
])('%i cents are written %s', (cents, text) => {
  expect(toDollarText(cents)).toBe(text);
});
