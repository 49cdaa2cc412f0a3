import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  candidateAmounts,
  groupUnit,
  type QuotedAsset,
  roundedAmount,
  toBaseUnits,
} from '#onchain/settlement/quote-amounts.ts';
import { formatBaseUnits } from '#payments/token-amount.ts';
import { leavings } from '../../onchain/settlement/leavings.ts';
import { usd } from './market.ts';

/** Every asset with the decimals of its amounts, and its range of prices in whole dollars. */
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

/** Coins and stablecoins, with the numbers of decimals that their amounts are written with. */
const anyAsset = fc.oneof(
  coin.map(({ asset, price }) => ({ asset: { ...asset, written: [asset.step] }, price })),
  fc
    .constantFrom(...STABLECOINS)
    .map(asset => ({ asset: { ...asset, step: 4, written: [4, 6] }, price: DOLLAR })),
);

/** The amounts for a price in cents, as shown. */
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
  test('of all assets: different, at least the price, within the budget, never ending in zero', () => {
    fc.assert(
      fc.property(cents, anyAsset, (price, { asset, price: rate }) => {
        const base = toBaseUnits(price, rate, asset.decimals);
        const amounts = candidateAmounts(base, asset, rate);
        const threeCents = (3n * 10n ** BigInt(asset.decimals) * DOLLAR) / (100n * rate);
        const budget = threeCents > base / 200n ? threeCents : base / 200n;
        expect(amounts.length).toBeGreaterThanOrEqual(1);
        expect(amounts.length).toBeLessThanOrEqual(500);
        expect(new Set(amounts).size).toBe(amounts.length);
        for (const [index, amount] of amounts.entries()) {
          expect(amount >= base).toBe(true);
          expect(amount <= base + budget || index === 0).toBe(true);
          const written = formatBaseUnits(amount, asset.decimals).split('.')[1] ?? '';
          expect(asset.written).toContain(written.length);
        }
        // The first is the price rounded up to a last digit other than zero, and no more.
        const step = 10n ** BigInt(asset.decimals - asset.step);
        expect((amounts[0] ?? 0n) - base < 2n * step).toBe(true);
        expect(amounts[0]).toBe(roundedAmount(base, asset));
      }),
    );
  });

  test('a cut amount never equals another one, of any price', () => {
    fc.assert(
      fc.property(cents, cents, anyAsset, fc.nat(499), (one, other, { asset, price }, index) => {
        const of = (each: number) =>
          candidateAmounts(toBaseUnits(each, price, asset.decimals), asset, price);
        const amounts = of(one);
        const asked = amounts[index % amounts.length] ?? 0n;
        const all = new Set([...amounts, ...of(other), ...of(one + 1)]);
        for (const sent of leavings(asked, asset.decimals)) expect(all.has(sent)).toBe(false);
      }),
    );
  });

  test.each(STABLECOINS)('of $symbol with $decimals decimals: groups a cent apart', asset => {
    const unit = 10n ** BigInt(asset.decimals - 2);
    expect(groupUnit(asset)).toBe(unit);
    const base = toBaseUnits(5_000, DOLLAR, asset.decimals);
    const amounts = candidateAmounts(base, asset, DOLLAR);
    expect(amounts).toHaveLength(500);
    // The first 90 lie within the price's own cent, the others up to half a per cent above.
    expect(new Set(amounts.slice(0, 90).map(amount => amount / unit)).size).toBe(1);
    expect(new Set(amounts.map(amount => amount / unit)).size).toBe(25);
  });

  test('the first never falls as the price rises', () => {
    fc.assert(
      fc.property(cents, cents, anyAsset, (one, other, { asset, price }) => {
        const [low = 0n, high = 0n] = [Math.min(one, other), Math.max(one, other)].map(
          each => candidateAmounts(toBaseUnits(each, price, asset.decimals), asset, price)[0],
        );
        expect(high >= low).toBe(true);
      }),
    );
  });

  test('are short', () => {
    expect(shown(1234, STABLECOINS[0], DOLLAR).slice(0, 11)).toEqual([
      ...['12.3401', '12.3402', '12.3403', '12.3404', '12.3405', '12.3406', '12.3407', '12.3408'],
      ...['12.3409', '12.3411', '12.3412'],
    ]);
    expect(shown(1234, STABLECOINS[2], DOLLAR).slice(89, 92)).toEqual([
      ...['12.3499', '12.3501', '12.3502'],
    ]);
    // Three cents above, there is room for some amounts with six decimals.
    expect(shown(100, STABLECOINS[0], DOLLAR).slice(270, 272)).toEqual(['1.000001', '1.000002']);
    expect(shown(1000, ASSETS[2], usd('3999.99')).slice(0, 2)).toEqual([
      '0.00250001',
      '0.00250002',
    ]);
    expect(shown(1000, ASSETS[3], usd('801.5')).slice(0, 2)).toEqual(['0.0124767', '0.0124768']);
    expect(shown(1, ASSETS[0], usd('100000'))).toHaveLength(27);
  });

  test('there is one even if a step costs more than the budget', () => {
    const rate = usd('99999999');
    expect(candidateAmounts(toBaseUnits(1, rate, 18), ASSETS[2], rate)).toEqual([10n ** 10n]);
  });

  test('needs an asset it knows and an amount', () => {
    expect(() => candidateAmounts(1n, { symbol: 'DOGE', decimals: 8 }, DOLLAR)).toThrow(RangeError);
    expect(() => candidateAmounts(0n, ASSETS[0], DOLLAR)).toThrow(RangeError);
    expect(() => candidateAmounts(1n, ASSETS[0], 0n)).toThrow(RangeError);
  });
});
