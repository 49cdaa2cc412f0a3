// Year, month, day, then hour, minute, second, fraction and zone.
const EXTENDED =
  /^(\d{4})-(\d\d)-(\d\d)(?:T([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:[.,](\d{1,9}))?)?(Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?)?$/i;
const BASIC =
  /^(\d{4})(\d\d)(\d\d)(?:T([01]\d|2[0-3])([0-5]\d)(?:([0-5]\d)(?:[.,](\d{1,9}))?)?(Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?)?$/i;
const DATE_LENGTH = '2030-01-31'.length;

const DAY_MS = 24 * 60 * 60 * 1000;

/** What `parseDateBound` takes, in words that follow "must be". */
export const DATE_EXPECTED = 'an ISO 8601 date-time or date, for example 2030-01-31T12:00:00Z';

/**
 * Parses an ISO 8601 calendar date-time, extended or basic, to the millisecond. Seconds may be missing; a
 * missing zone is UTC; a date alone is midnight UTC.
 * @returns undefined for anything else: week and ordinal dates, and dates such as 30 February.
 */
export function parseDateBound(text: string): Date | undefined {
  const match = EXTENDED.exec(text) ?? BASIC.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = ''] = match;
  const zone = (match[8] ?? 'Z').toUpperCase();
  const offset = zone === 'Z' ? zone : `${zone.slice(0, 3)}:${zone.slice(-2)}`;
  // `Date` turns 30 February into a day in March.
  const midnight = new Date(`${year}-${month}-${day}T00:00:00Z`);
  if (midnight.getUTCDate() !== Number(day)) return undefined;
  return new Date(
    `${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction.slice(0, 3).padEnd(3, '0')}${offset}`,
  );
}

/** Parses an optional inclusive end of a validated query: a date alone means that whole UTC day. */
export function toInclusiveEnd(text: string | undefined): Date | undefined {
  const date = toDate(text);
  // A longer text has a time.
  const isDay = text !== undefined && text.length <= DATE_LENGTH;
  return isDay && date !== undefined ? new Date(date.getTime() + DAY_MS - 1) : date;
}

/** Parses an optional bound of a validated query. */
export function toDate(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : parseDateBound(text);
}
