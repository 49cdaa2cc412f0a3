/**
 * How long after its end a month may still change, in milliseconds. A payment is committed only seconds after the time
 * at which it is stamped as paid, so an hour is ample.
 */
export const CLOSED_AFTER_MS = 60 * 60_000;

/** Pattern of a month, YYYY-MM, of this century: no payment is older. */
export const MONTH_PATTERN = '^20\\d{2}-(0[1-9]|1[0-2])$';

/** The UTC month of an instant, YYYY-MM. */
export function utcMonth(date: Date): string {
  return date.toISOString().slice(0, 7);
}

/** Midnight at the beginning of a UTC month. */
export function startOfMonth(month: string): Date {
  return new Date(`${month}-01T00:00:00.000Z`);
}

/** The UTC month that is `count` months after, or before, another. */
export function addMonths(month: string, count: number): string {
  const start = startOfMonth(month);
  return utcMonth(new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + count)));
}

/** All UTC months from one to another, newest first. */
export function monthsBetween(first: string, last: string): string[] {
  const months: string[] = [];
  for (let month = last; month >= first; month = addMonths(month, -1)) months.push(month);
  return months;
}

/** When a UTC month is closed: from then on nothing is added to it. */
export function closingOf(month: string): Date {
  return new Date(startOfMonth(addMonths(month, 1)).getTime() + CLOSED_AFTER_MS);
}

/** Whether nothing is added to a UTC month any more. */
export function isClosed(month: string, now: Date): boolean {
  return now >= closingOf(month);
}
