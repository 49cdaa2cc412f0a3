import type { Clock } from './clock.ts';

/** What work may take of a processor: milliseconds in each second, and at most at once. */
const MS_A_SECOND = 50;
const MS_AT_ONCE = 500;

/**
 * Bounds what work that blocks the event loop takes of it, however many ask: a twentieth. Work that is less urgent has
 * the upper half alone, so that it leaves something for the rest.
 */
export class ProcessorBudget {
  readonly #clock: Clock;
  readonly #meter: () => number;
  /** Below 0 after work that took more than there was. */
  #left = MS_AT_ONCE;
  #at: number;

  /** @param meter What this thread has taken of its processor, in milliseconds. */
  constructor(clock: Clock, meter = processorMs) {
    this.#clock = clock;
    this.#meter = meter;
    this.#at = clock();
  }

  /** Whether there is anything left for work, or for work that is less urgent. */
  has(isUrgent: boolean): boolean {
    const now = this.#clock();
    const gained = (Math.max(0, now - this.#at) / 1_000) * MS_A_SECOND;
    this.#left = Math.min(MS_AT_ONCE, this.#left + gained);
    this.#at = now;
    return this.#left > (isUrgent ? 0 : MS_AT_ONCE / 2);
  }

  /** Does the work, and takes what it took from the budget. */
  spend<T>(work: () => T): T {
    const before = this.#meter();
    try {
      return work();
    } finally {
      this.#left -= this.#meter() - before;
    }
  }
}

function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
