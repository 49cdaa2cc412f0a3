import { ApiError } from '../errors/api-error.ts';
import { type Processor, ProcessorUnavailable } from '../payments/processor.ts';
import { createCircuit } from '../time/circuit.ts';
import type { Clock } from '../time/clock.ts';

/** Share of the connection pool that creations waiting for the processor may hold. */
const POOL_SHARE = 1 / 3;
/** Consecutive failures after which calls to the processor are suspended. */
const MAXIMUM_FAILURES = 3;
/** How long they are suspended, in milliseconds, before one call probes the processor. */
const PAUSE_MS = 10_000;

interface GuardOptions {
  readonly clock: Clock;
  /** Connections in the database pool. */
  readonly poolSize: number;
}

/**
 * Protects the database pool from a slow or unreachable processor.
 *
 * A creation holds a database connection while it waits for the processor, so a processor that
 * hangs would soon exhaust the pool and block unrelated payments. A circuit breaker stops calls to
 * a processor that fails; a limit on calls in flight covers one that is slow but responds. A call
 * refused here was never executed: it fails with E5002 and stores no idempotency key.
 */
export function guardProcessor<P extends Processor>(
  processor: P,
  { clock, poolSize }: GuardOptions,
): P {
  const maximumInFlight = Math.max(1, Math.floor(poolSize * POOL_SHARE));
  let inFlight = 0;
  const circuit = createCircuit({ clock, maximumFailures: MAXIMUM_FAILURES, pauseMs: PAUSE_MS });

  return {
    ...processor,
    async createSession(session) {
      if (inFlight >= maximumInFlight) {
        throw new ApiError('E5002', 'The payment processor is too slow just now.');
      }
      if (circuit.isOpen()) {
        throw new ApiError('E5002', 'The payment processor was not reachable a moment ago.');
      }
      circuit.attempt();
      inFlight += 1;
      try {
        const created = await processor.createSession(session);
        circuit.succeeded();
        return created;
      } catch (error) {
        if (error instanceof ProcessorUnavailable) circuit.failed();
        else circuit.succeeded();
        throw error;
      } finally {
        inFlight -= 1;
      }
    },
  };
}
