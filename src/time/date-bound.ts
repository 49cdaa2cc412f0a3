const RFC_3339 =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d))?$/;

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Parses an RFC 3339 date-time, or a date alone as midnight UTC, to the millisecond.
 * @returns undefined for anything else, dates such as 30 February included.
 */
export function parseDateBound(text: string): Date | undefined {
  const match = RFC_3339.exec(text);
  if (match === null) return undefined;
  const [, year, month, day] = match.map(Number);
  if (year === undefined || month === undefined || day === undefined) return undefined;
  // Date accepts 30 February as a day in March. setUTCFullYear, unlike Date.UTC, takes year 99 as 99.
  const calendar = new Date(0);
  calendar.setUTCFullYear(year, month - 1, day);
  if (calendar.getUTCMonth() !== month - 1 || calendar.getUTCDate() !== day) return undefined;
  const date = new Date(text.toUpperCase());
  return Number.isNaN(date.getTime()) ? undefined : date;
}

/** Parses an optional inclusive end of a validated query: a date alone means that whole UTC day. */
export function toInclusiveEnd(text: string | undefined): Date | undefined {
  const date = toDate(text);
  const isDay = text !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(text);
  return isDay && date !== undefined ? new Date(date.getTime() + DAY_MS - 1) : date;
}

/** Parses an optional bound of a validated query. */
export function toDate(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : parseDateBound(text);
}
