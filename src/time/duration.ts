const DAY_SECONDS = 86_400;
const UNIT_SECONDS = new Map([
  ['s', 1],
  ['m', 60],
  ['h', 3_600],
  ['d', DAY_SECONDS],
]);
const DAYS_MAXIMUM = 30;

/** What `parseDuration` takes, in words that follow "must be". */
export const DURATION_EXPECTED = `a duration like 90s, 20m, 36h or 3d, at most ${DAYS_MAXIMUM} days`;

/** Parses a whole number of seconds, minutes, hours or days; in milliseconds. @returns undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const [, count = '', unit = ''] = /^(\d{1,7})([smhd])$/.exec(text) ?? [];
  const seconds = Number(count) * (UNIT_SECONDS.get(unit) ?? 0);
  return seconds > 0 && seconds <= DAYS_MAXIMUM * DAY_SECONDS ? seconds * 1_000 : undefined;
}
