/**
 * Seconds before each attempt, counted from the previous one. Ten attempts in a little over three
 * days, as the Standard Webhooks specification proposes.
 */
export const RETRY_DELAYS_SECONDS = [
  0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400,
] as const;

/** Relative variation of a delay either way, so that retries of one outage spread out. */
export const JITTER = 0.1;

/**
 * About when a delivery is given up if no attempt succeeds: the time of its last attempt.
 * @param attempts Number of attempts made so far.
 * @param next When the next one is due.
 */
export function givenUpAt(attempts: number, next: Date): Date {
  let seconds = 0;
  for (const delay of RETRY_DELAYS_SECONDS.slice(attempts + 1)) seconds += delay;
  return new Date(next.getTime() + seconds * 1_000);
}

/**
 * When to make the next attempt after a failed one.
 * @param failed Number of the attempt that failed, from 1.
 * @param retryAfterMs Minimum delay requested by the endpoint, in milliseconds.
 * @param random Returns a number from 0 to 1.
 * @returns undefined after the last attempt.
 */
export function nextAttemptAt(
  failed: number,
  now: Date,
  retryAfterMs = 0,
  random: () => number = Math.random,
): Date | undefined {
  const seconds = RETRY_DELAYS_SECONDS[failed];
  if (seconds === undefined) return undefined;
  const jittered = seconds * 1_000 * (1 - JITTER + 2 * JITTER * random());
  return new Date(now.getTime() + Math.max(Math.round(jittered), retryAfterMs));
}
