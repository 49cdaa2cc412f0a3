import pg from 'pg';

const INT8_OID = 20;
const DATE_OID = 1082;
const TIMESTAMP_OID = 1114;
const TIMESTAMPTZ_OID = 1184;

/** How columns become JavaScript values; everything not named here as the driver does it. */
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

/** Counts and sums of cents stay below 2^53; one that does not must never be rounded in silence. */
function parseSafeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint ${text} is not a safe integer`);
  return value;
}

/**
 * What was asked for `at time zone 'UTC'` is to be shown: `2026-05-17 12:00:00.5` becomes
 * `2026-05-17T12:00:00.500Z` without a Date in between, which takes ten times as long. Timestamps
 * of our tables have three decimals at most, and trailing zeros are left out.
 */
function toIsoText(text: string): string {
  const decimals = text.slice(20).padEnd(3, '0');
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${decimals}Z`;
}

/**
 * Reads `2026-05-17 12:00:00.5+00`, as PostgreSQL writes an instant to a session in UTC. The engine's
 * own reading of ISO 8601 takes half the time of the driver's, which reads everything else: other
 * zones, years of five digits, years before Christ, infinity.
 */
function parseInstant(text: string): unknown {
  const usual = text[4] === '-' && text.endsWith('+00');
  return usual ? new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`) : parseAnyInstant(text);
}
