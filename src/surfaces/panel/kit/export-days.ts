import { toDate, toInclusiveEnd } from '#time/date-bound.ts';
import { endOfDay, utcDay } from '#time/days.ts';
import { type Html, html } from '../../pages/html.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';
import type { Days } from './filters.ts';

const DAY_MS = 24 * 60 * 60_000;
/** Most UTC days in a file: enough for any whole year, but not for the millions of rows of a long history. */
export const EXPORT_DAYS_MAXIMUM = 366;

/** The first and the last instant that a file covers. */
interface ExportBounds {
  readonly from: Date;
  readonly to: Date;
}

/**
 * The time range of a list's file: the days of the list or, if it has no first day, the last 366 up to its end.
 * @returns null for more days than a file may cover.
 */
export function exportBounds({ from, to }: Days, now: Date): ExportBounds | null {
  const end = toInclusiveEnd(to);
  const last = end === undefined || end > now ? now : end;
  const earliest = new Date(endOfDay(utcDay(last)).getTime() - EXPORT_DAYS_MAXIMUM * DAY_MS);
  const start = toDate(from) ?? earliest;
  return start < earliest ? null : { from: start, to: last };
}

/** The time range of a file, as the audit log records it. */
export function auditedBounds({ from, to }: ExportBounds) {
  return { from: from.toISOString(), to: to.toISOString() };
}

/** The link to a list's file, with a note on what it leaves out, or the reason why there is none. */
export function renderDownload({ lists }: PanelTexts, url: string, days: Days, now: Date): Html {
  const bounds = exportBounds(days, now);
  if (bounds === null) {
    return html`<span class="quiet">${lists.file.tooManyDays(EXPORT_DAYS_MAXIMUM)}</span>`;
  }
  const note = lists.file.begins(utcDay(bounds.from), EXPORT_DAYS_MAXIMUM);
  return html`<a href="${url}" download>${lists.download}</a>
${days.from === undefined && html`<span class="quiet">${note}</span>`}`;
}
