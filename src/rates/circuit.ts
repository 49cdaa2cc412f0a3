import type { Clock } from '../time/clock.ts';

/** Failures in a row after which something is left alone for a while. */
const FAILURES = 3;

/** How long, in milliseconds: long enough to save waiting, short next to an outage. */
const COOLDOWN_MS = 30_000;

/** Keeps from asking again and again what keeps failing. */
export interface Circuit {
  /** Whether to ask: not for some seconds after failures in a row. */
  allows(key: string): boolean;
  succeeded(key: string): void;
  /** @returns Whether asking has just been suspended. */
  failed(key: string): boolean;
}

/** After the pause one more failure starts the next pause. */
export function createCircuit(clock: Clock): Circuit {
  const failures = new Map<string, { count: number; at: number }>();
  return {
    allows(key) {
      const failure = failures.get(key);
      if (failure === undefined || failure.count < FAILURES) return true;
      return Math.abs(clock() - failure.at) >= COOLDOWN_MS;
    },
    succeeded(key) {
      failures.delete(key);
    },
    failed(key) {
      const count = (failures.get(key)?.count ?? 0) + 1;
      failures.set(key, { count, at: clock() });
      return count >= FAILURES;
    },
  };
}
