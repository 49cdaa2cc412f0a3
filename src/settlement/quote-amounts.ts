import { isStablecoin, pricedAsset } from '../rates/assets.ts';
import { PRICE_SCALE } from '../rates/price.ts';

const CENTS_PER_DOLLAR = 100n;

/** Maximum amounts per price; more concurrent payments of the same price are not expected. */
const MAXIMUM_CANDIDATES = 500;

/** Maximum offset above the exact price: 3 cents, or 0.5 % of the price if that is more. */
export const BUDGET_CENTS = 3n;
export const BUDGET_PER_MILLE = 5n;

/**
 * Decimals of the requested amounts by asset, fewest first. One unit of the last decimal is worth
 * well below a cent, which leaves room for many distinct amounts. Test assets use the real one's.
 *
 * Stablecoins use the hundred amounts with four decimals within the price's own cent, then those
 * with six decimals within the same cent, so that a received amount still shows the invoiced price.
 * BNB Chain's USDT, which has 18 decimals, does the same.
 */
const STEP_DECIMALS: ReadonlyMap<string, readonly number[]> = new Map([
  ['USDT', [4, 6]],
  ['USDC', [4, 6]],
  ['BTC', [8]],
  ['ETH', [8]],
  ['BNB', [7]],
  ['AVAX', [6]],
  ['SOL', [6]],
  ['TRX', [4]],
]);

export interface QuotedAsset {
  readonly symbol: string;
  readonly decimals: number;
}

/**
 * Converts a price into an amount of an asset, rounded up so that the merchant never gets less.
 *
 * @param cents US cents, a positive whole number.
 * @param price1e18 US dollars for one whole unit of the asset, scaled by 1e18.
 * @param decimals Of the asset, 0 to 18.
 * @returns Integer of the asset's smallest unit.
 * @throws RangeError
 */
export function toBaseUnits(cents: number, price1e18: bigint, decimals: number): bigint {
  if (!Number.isSafeInteger(cents) || cents <= 0) throw new RangeError(`${cents} is no price`);
  return divideUp(BigInt(cents) * scaledUnitsPerCent(decimals), checkedPrice(price1e18));
}

/**
 * The price at which so many cents are this amount, scaled by 1e18, rounded down, and never 0. This is about the
 * price that a payment was quoted at, since its amount is at most a little above the exact one.
 * @param tokenAmount Integer of the asset's smallest unit, more than 0.
 */
export function agreedPrice(cents: number, tokenAmount: bigint, decimals: number): bigint {
  const price = (BigInt(cents) * scaledUnitsPerCent(decimals)) / tokenAmount;
  return price > 0n ? price : 1n;
}

/**
 * The smallest difference between two amounts that are asked for, in the asset's smallest unit.
 * @throws RangeError for an asset without a step.
 */
export function smallestStep({ symbol, decimals }: QuotedAsset): bigint {
  return unitsPerStep(decimals, stepDecimalsOf(symbol).at(-1) ?? 0);
}

/**
 * The amount of an asset that a price is about: what is asked for where no other payment of the same price is
 * open, in the asset's smallest unit.
 * @param base As of `candidateAmounts`.
 * @throws RangeError for an asset without a step.
 */
export function roundedAmount(base: bigint, { symbol, decimals }: QuotedAsset): bigint {
  const [fewest = decimals] = stepDecimalsOf(symbol);
  return roundUp(base, unitsPerStep(decimals, fewest));
}

/**
 * The distinct amounts that a payment may reserve, in order of preference.
 *
 * The first is the exact price rounded up to the asset's step, to keep the displayed amount short.
 * The others add one step at a time and stay within the budget above the exact price; the first is
 * there even if rounding exceeds it. For a stablecoin the amounts with six decimals follow those
 * with four; otherwise amounts increase.
 *
 * @param base The exact price in the asset's smallest unit, from `toBaseUnits`.
 * @param price1e18 US dollars for one whole unit of the asset, scaled by 1e18.
 * @returns 1 to 500 amounts in the asset's smallest unit.
 * @throws RangeError for an asset without a step.
 */
export function candidateAmounts(base: bigint, asset: QuotedAsset, price1e18: bigint): bigint[] {
  const stepDecimals = stepDecimalsOf(asset.symbol);
  if (base <= 0n) throw new RangeError(`${base} is no amount`);

  const steps = stepDecimals.map(decimals => unitsPerStep(asset.decimals, decimals));
  const start = roundedAmount(base, asset);
  const end = lastAmount(base, start, asset, price1e18);
  const amounts = new Set([start]);
  for (const step of steps) {
    for (let amount = start + step; amount <= end; amount += step) {
      if (amounts.size === MAXIMUM_CANDIDATES) return [...amounts];
      amounts.add(amount);
    }
  }
  return [...amounts];
}

function stepDecimalsOf(symbol: string): readonly number[] {
  const decimals = STEP_DECIMALS.get(pricedAsset(symbol));
  if (decimals === undefined) throw new RangeError(`${symbol} has no step`);
  return decimals;
}

function lastAmount(
  base: bigint,
  start: bigint,
  { symbol, decimals }: QuotedAsset,
  price1e18: bigint,
): bigint {
  const perCent = scaledUnitsPerCent(decimals);
  const price = checkedPrice(price1e18);
  // A stablecoin stays below the next cent, where the amounts of the next price begin.
  if (isStablecoin(symbol)) return start + perCent / price - 1n;
  const least = (BUDGET_CENTS * perCent) / price;
  const share = (base * BUDGET_PER_MILLE) / 1000n;
  return base + (least > share ? least : share);
}

/** Smallest units per cent at a price of one dollar, scaled by 1e18 to divide by a scaled price. */
function scaledUnitsPerCent(decimals: number): bigint {
  if (!Number.isInteger(decimals) || decimals < 0 || decimals > 18) {
    throw new RangeError(`${decimals} is no number of decimals`);
  }
  return (10n ** BigInt(decimals) * PRICE_SCALE) / CENTS_PER_DOLLAR;
}

/** Smallest units in one step; the smallest unit itself if the asset has fewer decimals. */
function unitsPerStep(assetDecimals: number, stepDecimals: number): bigint {
  return 10n ** BigInt(Math.max(assetDecimals - stepDecimals, 0));
}

function checkedPrice(price1e18: bigint): bigint {
  if (price1e18 <= 0n) throw new RangeError(`${price1e18} is no rate`);
  return price1e18;
}

function divideUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor;
}

function roundUp(amount: bigint, step: bigint): bigint {
  return divideUp(amount, step) * step;
}
