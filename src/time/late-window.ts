/**
 * How long after a payment has ended its amount still counts as its own, in milliseconds: 24 hours,
 * the longest that a payment waits. Later the amount is judged like any other, or every amount once
 * asked for would be late for ever.
 */
export const LATE_FOR_MS = 24 * 60 * 60_000;
