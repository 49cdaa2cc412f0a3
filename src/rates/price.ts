/** One US dollar: prices are integers scaled by this. */
export const PRICE_SCALE = 10n ** 18n;

const FRACTION_DIGITS = 18;

/** Plain notation only: no sign, no exponent, no leading zeros, nothing the scale cannot hold. */
const DECIMAL = /^(0|[1-9]\d{0,11})(?:\.(\d{1,18}))?$/;

/**
 * Prices nobody can mean: below a millionth of a dollar or above a hundred million. Every asset
 * offered is far from both, and a source that slips by whole powers of ten mostly is not.
 */
const LEAST = PRICE_SCALE / 1_000_000n;
const MOST = PRICE_SCALE * 100_000_000n;

/**
 * Reads a price in US dollars from decimal text, exactly: it never passes through a float.
 * @returns The price scaled by 1e18; undefined for anything but text, other notations and prices
 *   that cannot be meant.
 */
export function parsePrice(text: unknown): bigint | undefined {
  const match = typeof text === 'string' ? DECIMAL.exec(text) : null;
  if (match === null) return undefined;
  const [, whole = '', fraction = ''] = match;
  const price = BigInt(whole + fraction.padEnd(FRACTION_DIGITS, '0'));
  return price >= LEAST && price <= MOST ? price : undefined;
}
