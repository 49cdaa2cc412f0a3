import type { Clock } from './clock.ts';

/** CPU time that the work may use, in milliseconds: in each second, and at most in one burst. */
const MS_A_SECOND = 50;
const MS_AT_ONCE = 500;

/**
 * Limits work that blocks the event loop to a twentieth of it, however many requests ask for such work. Less urgent
 * work may only use the upper half of the budget, which leaves some for the rest.
 */
export class CpuBudget {
  readonly #clock: Clock;
  readonly #meter: () => number;
  /** Below 0 after work that exceeded the budget. */
  #left = MS_AT_ONCE;
  #at: number;

  /** @param meter CPU time that this thread has used so far, in milliseconds. */
  constructor(clock: Clock, meter = processorMs) {
    this.#clock = clock;
    this.#meter = meter;
    this.#at = clock();
  }

  /** Whether any budget is left for urgent work, or for less urgent work. */
  has(isUrgent: boolean): boolean {
    const now = this.#clock();
    const gained = (Math.max(0, now - this.#at) / 1_000) * MS_A_SECOND;
    this.#left = Math.min(MS_AT_ONCE, this.#left + gained);
    this.#at = now;
    return this.#left > (isUrgent ? 0 : MS_AT_ONCE / 2);
  }

  /** Runs the work, and subtracts its CPU time from the budget. */
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
