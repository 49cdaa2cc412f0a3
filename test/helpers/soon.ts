/**
 * Timeout and interval for a condition that is about to hold, in milliseconds. The default of one second
 * for `vi.waitFor` and `vi.waitUntil` is too short on a busy machine. The timeout is shorter
 * than that of a test, so that the failure names the condition.
 */
export const SOON = { timeout: 10_000, interval: 10 } as const;
