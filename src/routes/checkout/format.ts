import { type Html, html } from '../html.ts';

const DOLLARS = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
const TIME = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short', timeZone: 'UTC' });
const DATE_AND_TIME = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'long',
  timeStyle: 'short',
  timeZone: 'UTC',
});

/** Cents as dollars: 123456 is $1,234.56. */
export function formatDollars(cents: number): string {
  const digits = String(cents).padStart(3, '0');
  // Decimal text, not a quotient, is formatted exactly.
  return DOLLARS.format(`${digits.slice(0, -2)}.${digits.slice(-2)}` as Intl.StringNumericLiteral);
}

/** A time of today or tomorrow; the script turns a deadline into a countdown. */
export function timeOfDay(date: Date): Html {
  return html`<time datetime="${date.toISOString()}">${TIME.format(date)} UTC</time>`;
}

export function dateAndTime(date: Date): Html {
  return html`<time datetime="${date.toISOString()}">${DATE_AND_TIME.format(date)} UTC</time>`;
}
