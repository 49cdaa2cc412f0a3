import type { Clock } from '../../time/clock.ts';

/** Work that is done once in a while. */
export interface Period {
  /** Whether the time since the last `start` has passed; a clock that was set back counts as well. */
  isDue(): boolean;
  start(): void;
}

/** @param lengthMs In milliseconds. */
export function createPeriod(clock: Clock, lengthMs: number): Period {
  let startedAt = Number.NEGATIVE_INFINITY;
  return {
    isDue: () => Math.abs(clock() - startedAt) >= lengthMs,
    start() {
      startedAt = clock();
    },
  };
}
