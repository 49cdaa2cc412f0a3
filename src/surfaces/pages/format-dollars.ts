import { toDollarText } from '#payments/dollars.ts';

const DOLLARS = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });

/** 123456 cents is $1,234.56. */
export function formatDollars(cents: number): string {
  // Intl formats decimal text exactly, unlike the floating-point quotient.
  return DOLLARS.format(toDollarText(cents) as Intl.StringNumericLiteral);
}
