const CENTS_PER_DOLLAR = 100;
const DOLLARS = /^(\d+)(?:\.(\d{1,2}))?$/;

/**
 * Converts a JSON number of dollars into cents without ever multiplying a fraction: `0.29 * 100` is
 * 28.999999999999996. JavaScript writes a number as the shortest decimal that reads back as the same
 * number, which up to 15 digits is the one that was sent.
 *
 * @returns undefined for what is no amount of whole cents.
 */
export function toCents(dollars: number): number | undefined {
  const [, whole, fraction = ''] = DOLLARS.exec(String(dollars)) ?? [];
  if (whole === undefined) return undefined;
  const cents = Number(whole) * CENTS_PER_DOLLAR + Number(fraction.padEnd(2, '0'));
  return Number.isSafeInteger(cents) ? cents : undefined;
}

/** The number whose shortest decimal is the amount; division rounds to the nearest number there is. */
export function toDollarNumber(cents: number): number {
  return cents / CENTS_PER_DOLLAR;
}

/** Two decimals, as in `1.50`. */
export function toDollarText(cents: number): string {
  const fraction = String(cents % CENTS_PER_DOLLAR).padStart(2, '0');
  return `${Math.floor(cents / CENTS_PER_DOLLAR)}.${fraction}`;
}
