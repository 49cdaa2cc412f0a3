import type { Clock } from '#time/clock.ts';

/**
 * A timer for work that is done periodically.
 * @param lengthMs In milliseconds.
 */
export function createPeriod(clock: Clock, lengthMs: number) {
  let startedAt = Number.NEGATIVE_INFINITY;
  return {
    /** Whether the period since the last `start` has passed; also true if the clock was set back by that much. */
    isDue: () => Math.abs(clock() - startedAt) >= lengthMs,
    start(): void {
      startedAt = clock();
    },
  };
}
