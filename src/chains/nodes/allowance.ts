import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves after the time; rejects with the signal's reason when it is aborted. */
export type Wait = (milliseconds: number, signal: AbortSignal) => Promise<void>;

export const abortableWait: Wait = async (milliseconds, signal) => {
  signal.throwIfAborted();
  if (milliseconds <= 0) return;
  await sleep(milliseconds, undefined, { signal }).catch(() => signal.throwIfAborted());
};

/** Limits the calls per second to a node. */
export interface Allowance {
  /**
   * Waits until `calls` calls may be made. Callers get their turn in the order of their requests.
   * @throws The signal's reason when it is aborted first; then no call is used up.
   */
  take(calls: number, signal: AbortSignal): Promise<void>;
}

interface AllowanceOptions {
  readonly perSecond: number;
  /** A monotonic clock, in milliseconds: setting the system's clock must not stop or release all calls. */
  readonly elapsed?: () => number;
  readonly wait?: Wait;
}

/** A token bucket of one second. */
export function createAllowance({
  perSecond,
  elapsed = () => performance.now(),
  wait = abortableWait,
}: AllowanceOptions): Allowance {
  let tokens = perSecond;
  let filledAt = elapsed();
  return {
    async take(calls, signal) {
      signal.throwIfAborted();
      const now = elapsed();
      tokens = Math.min(perSecond, tokens + ((now - filledAt) * perSecond) / 1000);
      filledAt = now;
      // A negative balance is the debt that the next caller waits for.
      tokens -= calls;
      if (tokens >= 0) return;
      try {
        await wait((-tokens * 1000) / perSecond, signal);
      } catch (error) {
        tokens += calls;
        throw error;
      }
    },
  };
}
