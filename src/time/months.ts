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
