const CENTS_PER_DOLLAR = 100;
const DOLLARS = /^(\d+)(?:\.(\d{1,2}))?$/;

/**
 * Converts a JSON number of dollars to cents without floating-point multiplication: `0.29 * 100` is
 * 28.999999999999996. JavaScript prints a number as the shortest decimal that parses to the same
 * number, which for up to 15 digits is the one that was sent.
 *
 * @returns undefined unless the amount is a whole number of cents.
 */
export function toCents(dollars: number): number | undefined {
  const [, whole, fraction = ''] = DOLLARS.exec(String(dollars)) ?? [];
  if (whole === undefined) return undefined;
  const cents = Number(whole) * CENTS_PER_DOLLAR + Number(fraction.padEnd(2, '0'));
  return Number.isSafeInteger(cents) ? cents : undefined;
}

/** 1234 is 12.34; the nearest number to the quotient, so it prints as the exact amount. */
export function toDollars(cents: number): number {
  return cents / CENTS_PER_DOLLAR;
}

/** Two decimals: 150 is `1.50`. */
export function toDollarText(cents: number): string {
  const fraction = String(cents % CENTS_PER_DOLLAR).padStart(2, '0');
  return `${Math.floor(cents / CENTS_PER_DOLLAR)}.${fraction}`;
}

/** As people write dollars: `1234.5`, `$1,234.50`. */
const WRITTEN = /^\$? ?(\d{1,3}(?:,\d{3})+|\d+)(\.\d{1,2})?$/;

/** Cents of dollars as people write them; undefined for any other text. */
export function parseDollars(text: string): number | undefined {
  const [, whole, fraction = ''] = WRITTEN.exec(text.trim()) ?? [];
  if (whole === undefined) return undefined;
  const cents = Number(whole.replaceAll(',', '') + fraction.slice(1).padEnd(2, '0'));
  return Number.isSafeInteger(cents) ? cents : undefined;
}
