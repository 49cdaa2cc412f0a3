import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatBaseUnits } from '../../src/payments/token-amount.ts';
import {
  candidateAmounts,
  type QuotedAsset,
  toBaseUnits,
} from '../../src/settlement/quote-amounts.ts';
import { usd } from './market.ts';

/** Every asset with the decimals of its amounts and a range of whole dollars it may cost. */
const ASSETS = [
  { symbol: 'BTC', decimals: 8, step: 8, from: 10_000, to: 900_000 },
  { symbol: 'tBTC', decimals: 8, step: 8, from: 10_000, to: 900_000 },
  { symbol: 'ETH', decimals: 18, step: 8, from: 100, to: 50_000 },
  { symbol: 'BNB', decimals: 18, step: 7, from: 50, to: 20_000 },
  { symbol: 'AVAX', decimals: 18, step: 6, from: 1, to: 2_000 },
  { symbol: 'SOL', decimals: 9, step: 6, from: 5, to: 5_000 },
  { symbol: 'TRX', decimals: 6, step: 4, from: 1, to: 20 },
] as const;

const STABLECOINS = [
  { symbol: 'USDT', decimals: 6 },
  { symbol: 'USDC', decimals: 6 },
  { symbol: 'USDT', decimals: 18 },
] as const;

const DOLLAR = usd('1');
const cents = fc.oneof(
  fc.integer({ min: 1, max: 20_000 }),
  fc.integer({ min: 1, max: 100_000_000 }),
);
const coin = fc.constantFrom(...ASSETS).chain(asset =>
  fc.record({
    asset: fc.constant(asset),
    price: fc.bigInt(usd(String(asset.from)), usd(String(asset.to))),
  }),
);

/** As shown, of a price in cents. */
function shown(price: number, asset: QuotedAsset, rate: bigint): string[] {
  const base = toBaseUnits(price, rate, asset.decimals);
  return candidateAmounts(base, asset, rate).map(units => formatBaseUnits(units, asset.decimals));
}

describe('toBaseUnits', () => {
  test.each([
    [1234, '1', 6, 12_340_000n],
    [1234, '1', 18, 12_340_000_000_000_000_000n],
    [5000, '100000', 8, 50_000n],
    [1, '100000', 8, 10n],
    [1, '0.25', 6, 40_000n],
    // 10 / 3 dollars.
    [1000, '3', 6, 3_333_334n],
    [1000, '3', 0, 4n],
  ])('%i cents at %s with %i decimals', (price, rate, decimals, expected) => {
    expect(toBaseUnits(price, usd(rate), decimals)).toBe(expected);
  });

  test.each([
    [0, DOLLAR, 6],
    [-1, DOLLAR, 6],
    [0.5, DOLLAR, 6],
    [Number.NaN, DOLLAR, 6],
    [2 ** 53, DOLLAR, 6],
    [1, 0n, 6],
    [1, -1n, 6],
    [1, DOLLAR, -1],
    [1, DOLLAR, 19],
    [1, DOLLAR, 1.5],
  ])('refuses %d cents at %d with %d decimals', (price, rate, decimals) => {
    expect(() => toBaseUnits(price, rate, decimals)).toThrow(RangeError);
  });

  test('is worth the price, and one unit less is not', () => {
    fc.assert(
      fc.property(
        cents,
        fc.bigInt(10n ** 12n, 10n ** 26n),
        fc.integer({ min: 0, max: 18 }),
        (price, rate, decimals) => {
          const units = toBaseUnits(price, rate, decimals);
          const asked = BigInt(price) * 10n ** BigInt(decimals + 16);
          expect(units * rate >= asked).toBe(true);
          expect((units - 1n) * rate < asked).toBe(true);
          // More cents never cost fewer units.
          expect(toBaseUnits(price + 1, rate, decimals) >= units).toBe(true);
        },
      ),
    );
  });
});

describe('candidateAmounts', () => {
  test('of coins: above the price, increasing, within the budget, with the right decimals', () => {
    fc.assert(
      fc.property(cents, coin, (price, { asset, price: rate }) => {
        const base = toBaseUnits(price, rate, asset.decimals);
        const amounts = candidateAmounts(base, asset, rate);
        const step = 10n ** BigInt(asset.decimals - asset.step);
        const threeCents = (3n * 10n ** BigInt(asset.decimals) * DOLLAR) / (100n * rate);
        const budget = threeCents > base / 200n ? threeCents : base / 200n;
        expect(amounts.length).toBeGreaterThanOrEqual(1);
        expect(amounts.length).toBeLessThanOrEqual(500);
        for (const [index, amount] of amounts.entries()) {
          expect(amount % step).toBe(0n);
          expect(amount - (amounts[index - 1] ?? amount - step)).toBe(step);
          expect(amount >= base && amount <= base + budget).toBe(true);
        }
        // The first is the price rounded up and no more; the last leaves no room unused.
        expect((amounts[0] ?? 0n) - base < step).toBe(true);
        const last = amounts.at(-1) ?? 0n;
        expect(amounts.length === 500 || last + step > base + budget).toBe(true);
      }),
    );
  });

  test.each(STABLECOINS)('of $symbol with $decimals decimals: 500 within the cent', asset => {
    const step = 10n ** BigInt(asset.decimals - 4);
    const fine = 10n ** BigInt(asset.decimals - 6);
    fc.assert(
      fc.property(cents, price => {
        const base = toBaseUnits(price, DOLLAR, asset.decimals);
        const amounts = candidateAmounts(base, asset, DOLLAR);
        const offsets = amounts.map(amount => amount - base);
        expect(new Set(offsets).size).toBe(500);
        expect(offsets.every(offset => offset >= 0n && offset < 100n * step)).toBe(true);
        expect(offsets.slice(0, 100)).toEqual(
          Array.from({ length: 100 }, (_, n) => BigInt(n) * step),
        );
        const rest = offsets.slice(100);
        expect(rest.every(offset => offset % fine === 0n && offset % step !== 0n)).toBe(true);
        expect(rest).toEqual(rest.toSorted((a, b) => (a < b ? -1 : 1)));
      }),
    );
  });

  test('never falls as the price rises', () => {
    fc.assert(
      fc.property(cents, cents, coin, (one, other, { asset, price: rate }) => {
        const [low, high] = [Math.min(one, other), Math.max(one, other)].map(price =>
          candidateAmounts(toBaseUnits(price, rate, asset.decimals), asset, rate),
        );
        expect((high?.[0] ?? 0n) >= (low?.[0] ?? 0n)).toBe(true);
        // Up to the limit of 500, or when both reach it.
        if (low?.length === high?.length)
          expect((high?.at(-1) ?? 0n) >= (low?.at(-1) ?? 0n)).toBe(true);
      }),
    );
  });

  test('prices next to each other share no amount of a stablecoin', () => {
    fc.assert(
      fc.property(cents, fc.constantFrom(...STABLECOINS), (price, asset) => {
        const both = [...shown(price, asset, DOLLAR), ...shown(price + 1, asset, DOLLAR)];
        expect(new Set(both).size).toBe(both.length);
      }),
    );
  });

  test('are short', () => {
    expect(shown(1234, STABLECOINS[0], DOLLAR).slice(0, 3)).toEqual([
      '12.34',
      '12.3401',
      '12.3402',
    ]);
    expect(shown(1234, STABLECOINS[2], DOLLAR).slice(98, 102)).toEqual([
      '12.3498',
      '12.3499',
      '12.340001',
      '12.340002',
    ]);
    expect(shown(1000, ASSETS[2], usd('3999.99')).slice(0, 2)).toEqual([
      '0.00250001',
      '0.00250002',
    ]);
    expect(shown(1000, ASSETS[3], usd('801.5')).slice(0, 2)).toEqual(['0.0124767', '0.0124768']);
    expect(shown(1, ASSETS[0], usd('100000'))).toHaveLength(31);
  });

  test('there is one even where a step costs more than the budget', () => {
    const rate = usd('99999999');
    expect(candidateAmounts(toBaseUnits(1, rate, 18), ASSETS[2], rate)).toEqual([10n ** 10n]);
  });

  test('needs an asset it knows and an amount', () => {
    expect(() => candidateAmounts(1n, { symbol: 'DOGE', decimals: 8 }, DOLLAR)).toThrow(RangeError);
    expect(() => candidateAmounts(0n, ASSETS[0], DOLLAR)).toThrow(RangeError);
    expect(() => candidateAmounts(1n, ASSETS[0], 0n)).toThrow(RangeError);
  });
});
