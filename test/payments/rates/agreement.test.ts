import fc from 'fast-check';
import { expect, test } from 'vitest';
import { agree, type SourcedRate } from '#payments/rates/agreement.ts';

/** Rates of one asset by whole prices, from sources a, b, c and so on. */
function rates(...prices: (bigint | number)[]): SourcedRate[] {
  return prices.map((price, index) => ({
    symbol: 'BTC',
    price: BigInt(price),
    at: 1_000 - index,
    source: String.fromCharCode(97 + index),
  }));
}

test.each([
  ['two at the very limit', [1000, 1015], 2, 1007n],
  ['two beyond it', [10_000, 10_151], 2, undefined],
  ['one alone', [1000], 1, undefined],
  ['nobody', [], 0, undefined],
  ['two of three', [1000, 2000, 1010], 3, 1005n],
  ['three that agree, from the lowest to the highest', [1000, 1010, 1004], 3, 1005n],
  ['the closer two of a chain', [1000, 1014, 1020], 3, 1017n],
  ['two against two', [1000, 1001, 2000, 2001], 4, undefined],
  ['two against two others', [1000, 1001, 2000, 3000], 4, undefined],
  ['three of four', [1000, 1001, 1002, 3000], 4, 1001n],
  ['two while a third is awaited', [1000, 1010], 3, 1005n],
  ['two while two are awaited', [1000, 1010], 4, undefined],
  ['three while one is awaited', [1000, 1010, 1004], 4, 1005n],
] as const)('%s', (_what, prices, voters, expected) => {
  expect(agree(rates(...prices), voters)?.rate.price).toBe(expected);
});

test('is as old as the oldest rate that agrees, and names who does not', () => {
  expect(agree(rates(1000, 1010, 5000), 3)).toEqual({
    rate: { symbol: 'BTC', price: 1005n, at: 999 },
    outliers: ['c'],
  });
});

const someRates = fc
  .array(fc.bigInt(10n ** 6n, 11n * 10n ** 5n), { maxLength: 6 })
  .map(prices => rates(...prices));

test('does not depend on the order, and lies within the given rates', () => {
  fc.assert(
    fc.property(
      someRates.chain(all =>
        fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
      ),
      ([all, shuffled]) => {
        const agreement = agree(all, all.length);
        expect(agree(shuffled, all.length)?.rate.price).toBe(agreement?.rate.price);
        if (agreement === undefined) return;
        const inside = all.filter(rate => !agreement.outliers.includes(rate.source));
        const prices = inside.map(rate => Number(rate.price));
        expect(inside.length).toBeGreaterThanOrEqual(2);
        expect(inside.length * 2).toBeGreaterThan(all.length);
        expect(Math.max(...prices)).toBeLessThanOrEqual(Math.min(...prices) * 1.015);
        expect(Number(agreement.rate.price)).toBeGreaterThanOrEqual(Math.min(...prices));
        expect(Number(agreement.rate.price)).toBeLessThanOrEqual(Math.max(...prices));
      },
    ),
  );
});

test('an agreement before the last response is within 1.5 % of the final one', () => {
  fc.assert(
    fc.property(someRates, fc.nat(6), (all, count) => {
      const early = agree(all.slice(0, count), all.length);
      if (early === undefined) return;
      const late = agree(all, all.length);
      // A majority has agreed already, and any two majorities share a source.
      expect(late).toBeDefined();
      const [a, b] = [Number(early.rate.price), Number(late?.rate.price)];
      expect(Math.abs(a - b)).toBeLessThanOrEqual(Math.min(a, b) * 0.016);
    }),
  );
});
