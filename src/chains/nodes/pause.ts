import { createCircuit } from '#time/circuit.ts';
import type { Clock } from '#time/clock.ts';

/** Failures in a row after which a node is paused, and for how long, in milliseconds. */
const MAXIMUM_FAILURES = 5;
const CIRCUIT_PAUSE_MS = 30_000;
/** Pause after a first failure, doubled with each further one up to the longest, in milliseconds. */
const PAUSE_MS = 1_000;
const PAUSE_MAXIMUM_MS = 60_000;
/** Share of a pause that is random, so that processes do not come back at once. */
const JITTER = 0.25;

/** When a node may be asked again after failed requests. */
export function createPause(clock: Clock, random: () => number = Math.random) {
  const circuit = createCircuit({
    clock,
    maximumFailures: MAXIMUM_FAILURES,
    pauseMs: CIRCUIT_PAUSE_MS,
  });
  let incidents = 0;
  let failures = 0;
  let pausedAt = 0;
  let pauseMs = 0;
  let attemptedAt = 0;

  return {
    /** Milliseconds until the node may be asked; 0 if it may be now. */
    remaining(): number {
      const now = clock();
      // The absolute difference: a clock that is set back must not prolong the pause.
      const own = pauseMs - Math.abs(now - pausedAt);
      const suspended = circuit.isOpen() ? CIRCUIT_PAUSE_MS - Math.abs(now - attemptedAt) : 0;
      return Math.max(own, suspended, 0);
    },
    /**
     * Call before each request.
     * @returns What to give to `succeeded` or `failed`.
     */
    attempt(): number {
      circuit.attempt();
      attemptedAt = clock();
      return incidents;
    },
    /** Ignored for a request that was sent before another one failed. */
    succeeded(attempt: number): void {
      if (attempt !== incidents) return;
      circuit.succeeded();
      failures = 0;
      pauseMs = 0;
    },
    /**
     * Of requests in flight at the same time only the first failure counts.
     * @param retryAfterMs What the node asks for; null for the usual pause.
     */
    failed(attempt: number, retryAfterMs: number | null = null): void {
      if (attempt !== incidents) return;
      incidents += 1;
      circuit.failed();
      pausedAt = clock();
      attemptedAt = pausedAt;
      const usual = Math.min(PAUSE_MS * 2 ** failures, PAUSE_MAXIMUM_MS);
      failures += 1;
      pauseMs = retryAfterMs ?? Math.ceil(usual * (1 - JITTER * random()));
    },
  };
}
