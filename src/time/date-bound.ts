const RFC_3339 =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d))?$/;

/**
 * Reads an RFC 3339 date-time, or a date alone as midnight UTC, at millisecond precision.
 * @returns undefined for anything else, days that the calendar does not have included.
 */
export function parseDateBound(text: string): Date | undefined {
  const match = RFC_3339.exec(text);
  if (match === null) return undefined;
  const [, year, month, day] = match.map(Number);
  if (year === undefined || month === undefined || day === undefined) return undefined;
  // Date moves 30 February into March instead of refusing it. Years below 100 would mean 19xx.
  const calendar = new Date(0);
  calendar.setUTCFullYear(year, month - 1, day);
  if (calendar.getUTCMonth() !== month - 1 || calendar.getUTCDate() !== day) return undefined;
  const date = new Date(text.toUpperCase());
  return Number.isNaN(date.getTime()) ? undefined : date;
}

/** The bound that a validated query holds, if it holds one. */
export function toDate(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : parseDateBound(text);
}
