/** One US dollar; prices are integers with 18 decimals. */
export const PRICE_SCALE = 10n ** 18n;

/** Decimals of a price that is scaled by `PRICE_SCALE`. */
export const PRICE_DECIMALS = 18;

/** Plain notation only: no sign, no exponent, no leading zeros, at most 18 decimals. */
const DECIMAL = /^(0|[1-9]\d{0,11})(?:\.(\d{1,18}))?$/;

/**
 * Plausible prices: from a millionth of a dollar to a hundred million dollars. Every offered asset
 * is far from both bounds, so they catch most errors by a power of ten.
 */
const MINIMUM = PRICE_SCALE / 1_000_000n;
const MAXIMUM = PRICE_SCALE * 100_000_000n;

/**
 * Parses decimal text into a price in US dollars, exactly: no floating point is involved.
 * @returns The price scaled by 1e18; undefined for other types and notations and for implausible
 *   prices.
 */
export function parsePrice(text: unknown): bigint | undefined {
  const match = typeof text === 'string' ? DECIMAL.exec(text) : null;
  if (match === null) return undefined;
  const [, whole = '', fraction = ''] = match;
  const price = BigInt(whole + fraction.padEnd(PRICE_DECIMALS, '0'));
  return price >= MINIMUM && price <= MAXIMUM ? price : undefined;
}
