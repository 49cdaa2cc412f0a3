import { pricedAsset } from '#payments/rates/assets.ts';
import { PRICE_SCALE } from '#payments/rates/price.ts';

const CENTS_PER_DOLLAR = 100n;

/** Maximum amounts per price; more concurrent payments of the same price are not expected. */
const MAXIMUM_CANDIDATES = 500;

/** Number of amounts to use before higher ones and ones with more decimals. */
export const FIRST_CANDIDATES = 90;

/** Maximum number of groups that the other amounts are spread over: each group has at least ten. */
const MAXIMUM_GROUPS = 41;

/** Maximum offset above the exact price: 3 cents, or 0.5 % of the price if that is more. */
export const BUDGET_CENTS = 3n;
export const BUDGET_PER_MILLE = 5n;

/** How much of the price may be missing if a wallet has cut the amount: a cent, or 0.1 % if that is more. */
export const CUT_PER_MILLE = 1n;

/** Numbers of decimals that exchanges send, in descending order; they cut or round amounts with more. */
const USUAL_DECIMALS = [8, 6, 4, 2];

/**
 * Decimals of the requested amounts by asset, fewest first. One unit of the last decimal is worth
 * well below a cent, which leaves room for many distinct amounts. Test assets use the real one's.
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
 * The price at which `cents` convert to `tokenAmount`, scaled by 1e18, rounded down, and never 0. It is close to the
 * price that a payment was quoted at, since its amount is at most a little above the exact one.
 * @param tokenAmount Integer of the asset's smallest unit, more than 0.
 */
export function agreedPrice(cents: number, tokenAmount: bigint, decimals: number): bigint {
  const price = (BigInt(cents) * scaledUnitsPerCent(decimals)) / tokenAmount;
  return price > 0n ? price : 1n;
}

/**
 * The smallest difference between two requested amounts, in the asset's smallest unit.
 * @throws RangeError for an asset without a step.
 */
export function smallestStep({ symbol, decimals }: QuotedAsset): bigint {
  return unitsPerStep(decimals, stepDecimalsOf(symbol).at(-1) ?? 0);
}

/**
 * The amount of an asset that a price comes to, roughly: the one with the fewest decimals that may be requested, in
 * the asset's smallest unit.
 * @param base As for `candidateAmounts`.
 * @throws RangeError for an asset without a step.
 */
export function roundedAmount(base: bigint, { symbol, decimals }: QuotedAsset): bigint {
  const [fewest = decimals] = stepDecimalsOf(symbol);
  const step = unitsPerStep(decimals, fewest);
  const rounded = roundUp(base, step);
  return endsInZero(rounded, step) ? rounded + step : rounded;
}

/**
 * The distinct amounts that a payment may reserve, in order of preference.
 *
 * Cutting or rounding one of them never yields another one, whatever their prices: an amount never ends in zero at
 * its last decimal, so its shorter forms are never requested. A stablecoin amount with six decimals has a zero as the
 * fourth, and less than half a step after it, so it never becomes one with four decimals.
 *
 * The first ones lie close above the exact price. The others are spread over the whole budget, in groups that still
 * differ after exchanges have cut the amounts (`groupUnit`), so that two payments of one price can be told apart even
 * then. The first amount is always included, even if rounding exceeds the budget.
 *
 * @param base The exact price in the asset's smallest unit, from `toBaseUnits`.
 * @param price1e18 US dollars for one whole unit of the asset, scaled by 1e18.
 * @returns 1 to 500 amounts in the asset's smallest unit.
 * @throws RangeError for an asset without a step.
 */
export function candidateAmounts(base: bigint, asset: QuotedAsset, price1e18: bigint): bigint[] {
  if (base <= 0n) throw new RangeError(`${base} is no amount`);
  const start = roundedAmount(base, asset);
  const end = lastAmount(base, asset, price1e18);
  const [step = 1n, ...finer] = stepDecimalsOf(asset.symbol).map(decimals =>
    unitsPerStep(asset.decimals, decimals),
  );
  const first = take(distinctive(start, end, step), FIRST_CANDIDATES);
  const next = (first.at(-1) ?? start) + step;
  const amounts = [
    ...(first.length === 0 ? [start] : first),
    ...spread({ from: next, end, step, group: groupUnit(asset) }),
  ];
  for (const fine of finer) {
    // The fourth decimal is a zero, and the decimals after it are less than half a step.
    const coarse = unitsPerStep(asset.decimals, stepDecimalsOf(asset.symbol)[0] ?? 0);
    const isApart = (amount: bigint) => amount % (coarse * 10n) < coarse / 2n;
    const room = MAXIMUM_CANDIDATES - amounts.length;
    amounts.push(...take(distinctive(roundUp(base, fine), end, fine).filter(isApart), room));
  }
  return amounts;
}

/**
 * The width of a group, in the asset's smallest unit: one unit of the last decimal, at the largest usual number of
 * decimals that is below that of the amounts. All amounts of a group become equal when they are cut to these
 * decimals.
 * @throws RangeError for an asset without a step.
 */
export function groupUnit({ symbol, decimals }: QuotedAsset): bigint {
  const [fewest = decimals] = stepDecimalsOf(symbol);
  return unitsPerStep(decimals, USUAL_DECIMALS.find(usual => usual < fewest) ?? 0);
}

/** The same number of amounts from each of the nearest groups, beginning with the group of `from`. */
function spread({
  from,
  end,
  step,
  group,
}: {
  readonly from: bigint;
  readonly end: bigint;
  readonly step: bigint;
  readonly group: bigint;
}): bigint[] {
  if (from > end) return [];
  const room = MAXIMUM_CANDIDATES - FIRST_CANDIDATES;
  const groups = Math.min(Number(end / group - from / group) + 1, MAXIMUM_GROUPS);
  const share = Math.floor(room / groups);
  return Array.from({ length: groups }, (_, index) => {
    const begin = (from / group + BigInt(index)) * group;
    const last = begin + group - 1n;
    const amounts = distinctive(begin > from ? begin : from, last < end ? last : end, step);
    return take(amounts, share);
  }).flat();
}

/** The amounts from `from` to `end` that do not end in zero at their last decimal. */
function* distinctive(from: bigint, end: bigint, step: bigint): Generator<bigint, undefined> {
  for (let amount = roundUp(from, step); amount <= end; amount += step) {
    if (!endsInZero(amount, step)) yield amount;
  }
}

function endsInZero(amount: bigint, step: bigint): boolean {
  return amount % (step * 10n) === 0n;
}

function take(amounts: IteratorObject<bigint>, count: number): bigint[] {
  return count <= 0 ? [] : [...amounts.take(count)];
}

function stepDecimalsOf(symbol: string): readonly number[] {
  const decimals = STEP_DECIMALS.get(pricedAsset(symbol));
  if (decimals === undefined) throw new RangeError(`${symbol} has no step`);
  return decimals;
}

function lastAmount(base: bigint, { decimals }: QuotedAsset, price1e18: bigint): bigint {
  const least = (BUDGET_CENTS * scaledUnitsPerCent(decimals)) / checkedPrice(price1e18);
  const share = (base * BUDGET_PER_MILLE) / 1000n;
  return base + (least > share ? least : share);
}

/** The amounts that may be requested for a payment, and which others settle it; all in the asset's smallest unit. */
export interface Terms {
  /** The exact price, or what is missing of it. */
  readonly due: bigint;
  /** The distinct amounts that may be requested, in order of preference. */
  readonly amounts: readonly bigint[];
  /** As `groupUnit` returns it. */
  readonly group: bigint;
  /** A cent, rounded down. */
  readonly cent: bigint;
  /** How much less than `due` settles the payment if a wallet has cut the amount. */
  readonly cutBy: bigint;
}

/**
 * The terms of a payment, or of its rest.
 * @param due The exact price in the asset's smallest unit, from `toBaseUnits`, or what is missing of it.
 * @param price1e18 US dollars for one whole unit of the asset, scaled by 1e18.
 * @param least The least that can be sent, if the address is known: no requested amount is lower.
 * @param whole The whole price, if `due` is what is missing of it.
 * @throws RangeError for an asset without a step.
 */
export function termsFor(
  due: bigint,
  asset: QuotedAsset,
  price1e18: bigint,
  { least = 0n, whole = due }: { readonly least?: bigint; readonly whole?: bigint } = {},
): Terms {
  const cent = scaledUnitsPerCent(asset.decimals) / checkedPrice(price1e18);
  const share = (whole * CUT_PER_MILLE) / 1000n;
  return {
    due,
    amounts: candidateAmounts(due > least ? due : least, asset, price1e18),
    group: groupUnit(asset),
    cent,
    cutBy: cent > share ? cent : share,
  };
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
