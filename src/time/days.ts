/** Days that `volume30d` and the volume trend of partner reports cover, today included. */
export const TREND_DAYS = 30;

const DAY_MS = 24 * 60 * 60 * 1000;

/** The UTC day of an instant, YYYY-MM-DD. */
export function utcDay(date: Date): string {
  return date.toISOString().slice(0, 10);
}

/** The last TREND_DAYS UTC days, today included, oldest first. */
export function trendDays(now: Date): string[] {
  const start = Date.parse(trendStart(now));
  return Array.from({ length: TREND_DAYS }, (_, index) => utcDay(new Date(start + index * DAY_MS)));
}

/** The first of the last TREND_DAYS UTC days. */
export function trendStart(now: Date): string {
  return utcDay(new Date(now.getTime() - (TREND_DAYS - 1) * DAY_MS));
}

/** Midnight at the end of a UTC day. */
export function endOfDay(day: string): Date {
  return new Date(Date.parse(`${day}T00:00:00Z`) + DAY_MS);
}
