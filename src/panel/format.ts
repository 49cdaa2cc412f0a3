import { formatDollars } from '../pages/format-dollars.ts';
import { type Html, html } from '../pages/html.ts';

const DATE_AND_TIME = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
});

/** A time in UTC, which the script puts into the reader's time zone. */
export function dateTime(date: Date | string): Html {
  const at = new Date(date);
  return html`<time datetime="${at.toISOString()}">${DATE_AND_TIME.format(at)} UTC</time>`;
}

/** 123456 cents is $1,234.56. */
export const dollars = formatDollars;

/** A number with thousands separated. */
export function count(value: number): string {
  return value.toLocaleString('en-US');
}

/** A count with its noun: `1 deposit`, `2 deposits`. */
export function counted(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`;
}
