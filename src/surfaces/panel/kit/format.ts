import { toCents } from '#payments/dollars.ts';
import { formatDollars } from '../../pages/format-dollars.ts';
import { type Html, html } from '../../pages/html.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';

/** A time in UTC, which the script puts into the reader's time zone. */
export function dateTime({ formats }: PanelTexts, date: Date | string): Html {
  const at = new Date(date);
  return html`<time datetime="${at.toISOString()}">${formats.dateTime(at)}</time>`;
}

/** A time of a log, with its seconds. */
export function exactTime({ formats }: PanelTexts, date: Date): Html {
  return html`<time datetime="${date.toISOString()}" data-exact>${formats.exactTime(date)}</time>`;
}

/** 123456 cents is $1,234.56. */
export const dollars = formatDollars;

/** An amount of a report, which is in dollars. */
export function money(amount: number): string {
  return dollars(toCents(amount) ?? 0);
}

/** @param bps Basis points. */
export const percent = (bps: number) => `${bps / 100} %`;

/** A number with thousands separated. */
export function count({ formats }: PanelTexts, value: number): string {
  return formats.number(value);
}
