import type { Clock } from '#time/clock.ts';

/**
 * Work that is done once in a while.
 * @param lengthMs In milliseconds.
 */
export function createPeriod(clock: Clock, lengthMs: number) {
  let startedAt = Number.NEGATIVE_INFINITY;
  return {
    /** Whether the time since the last `start` has passed; a clock that was set back counts as well. */
    isDue: () => Math.abs(clock() - startedAt) >= lengthMs,
    start(): void {
      startedAt = clock();
    },
  };
}
