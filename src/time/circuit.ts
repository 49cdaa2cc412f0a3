import type { Clock } from './clock.ts';

interface CircuitOptions {
  readonly clock: Clock;
  /** Consecutive failures that open the circuit. */
  readonly maximumFailures: number;
  /** How long calls are suspended after the last failure, in milliseconds. */
  readonly pauseMs: number;
}

/** A circuit breaker: suspends calls to a target that keeps failing. */
export interface Circuit {
  /** Whether calls are suspended now. */
  isOpen(): boolean;
  /** Call before each attempt: after a pause, the first one is a probe and suspends the others. */
  attempt(): void;
  succeeded(): void;
  /** @returns Whether this failure suspends calls. */
  failed(): boolean;
}

/** Once the circuit has opened, every further failure suspends calls for another pause. */
export function createCircuit({ clock, maximumFailures, pauseMs }: CircuitOptions): Circuit {
  let failures = 0;
  let pausedAt = 0;

  return {
    isOpen() {
      // The absolute difference: a clock that is set back must not prolong the pause.
      return failures >= maximumFailures && Math.abs(clock() - pausedAt) < pauseMs;
    },
    attempt() {
      pausedAt = clock();
    },
    succeeded() {
      failures = 0;
    },
    failed() {
      failures += 1;
      pausedAt = clock();
      return failures >= maximumFailures;
    },
  };
}
