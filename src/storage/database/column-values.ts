import pg from 'pg';

const INT8_OID = 20;
const DATE_OID = 1082;
const TIMESTAMP_OID = 1114;
const TIMESTAMPTZ_OID = 1184;

/** Parsers of column types; the driver's own for every type that is not listed. */
export const columnTypes: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    const parser = format === 'binary' ? undefined : TEXT_PARSERS.get(oid);
    return parser ?? pg.types.getTypeParser(oid, format as 'text');
  },
};

const parseAnyInstant: (text: string) => unknown = pg.types.getTypeParser(TIMESTAMPTZ_OID);

const TEXT_PARSERS = new Map<number, (text: string) => unknown>([
  [INT8_OID, parseSafeInteger],
  // A calendar day stays YYYY-MM-DD: as a Date it would move with the machine's time zone.
  [DATE_OID, text => text],
  [TIMESTAMPTZ_OID, parseInstant],
  [TIMESTAMP_OID, toIsoText],
]);

/** Refuses a count or a sum of cents above 2^53, which a JavaScript number would round. */
function parseSafeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint ${text} is not a safe integer`);
  return value;
}

/**
 * Formats a timestamp selected `at time zone 'UTC'`: `2026-05-17 12:00:00.5` becomes
 * `2026-05-17T12:00:00.500Z`. Going through a Date takes ten times as long. PostgreSQL leaves out
 * trailing zeros, and timestamps in our tables have at most three decimals.
 */
function toIsoText(text: string): string {
  const decimals = text.slice(20).padEnd(3, '0');
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${decimals}Z`;
}

/**
 * Parses `2026-05-17 12:00:00.5+00`, the form that a session in UTC gets, as ISO 8601, which takes half
 * the time of the driver's parser. That one handles the rest: other zones, five-digit years, BC,
 * infinity.
 */
function parseInstant(text: string): unknown {
  const usual = text[4] === '-' && text.endsWith('+00');
  return usual ? new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`) : parseAnyInstant(text);
}
