/**
 * How long after a payment has ended a transfer of its amount still counts as late for it, in
 * milliseconds: 24 hours, the longest that a payment waits. After that the amount is matched like any
 * other: otherwise every amount that was ever asked for would count as late for ever.
 */
export const LATE_FOR_MS = 24 * 60 * 60_000;

/** Quotes that ended since then may still be paid late, at a time in milliseconds since the epoch. */
export function lateSince(now: number): Date {
  return new Date(now - LATE_FOR_MS);
}
