/**
 * Seconds to wait before each attempt, counted from the one before; the first is made at once. Ten
 * attempts in a little over three days, as the Standard Webhooks specification proposes.
 */
export const RETRY_DELAYS_SECONDS = [
  0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400,
] as const;

/** How far a delay varies either way, so that what failed together does not come back together. */
export const JITTER = 0.1;

/**
 * When the attempt after a failed one is made.
 * @param failed Number of the attempt that failed, from 1.
 * @param retryAfterMs How long the endpoint asked to be left alone, in milliseconds.
 * @param random From 0 to 1.
 * @returns undefined when that was the last one.
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
