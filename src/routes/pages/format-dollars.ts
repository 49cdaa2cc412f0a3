const DOLLARS = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });

/** Cents as dollars: 123456 is $1,234.56. */
export function formatDollars(cents: number): string {
  const digits = String(cents).padStart(3, '0');
  // Decimal text, not a quotient, is formatted exactly.
  return DOLLARS.format(`${digits.slice(0, -2)}.${digits.slice(-2)}` as Intl.StringNumericLiteral);
}
