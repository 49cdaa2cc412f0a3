/**
 * How long to wait for a condition that is about to hold, and how often to look, in milliseconds. The
 * second that `vi.waitFor` and `vi.waitUntil` wait by default is too short for a busy machine. It is less
 * than the time limit of a test, so that the failure names the condition.
 */
export const SOON = { timeout: 10_000, interval: 10 } as const;
