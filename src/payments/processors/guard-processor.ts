import { Counter, Gauge } from 'prom-client';
import { ApiError } from '#errors/api-error.ts';
import { createCircuit } from '#time/circuit.ts';
import type { Clock } from '#time/clock.ts';
import { type Processor, ProcessorUnavailable } from '../processor.ts';

/** Share of the connection pool that creations waiting for the processor may hold. */
const POOL_SHARE = 1 / 3;
/** Consecutive failures after which calls to the processor are suspended. */
const MAXIMUM_FAILURES = 3;
/** How long they are suspended, in milliseconds, before one call probes the processor. */
const PAUSE_MS = 10_000;

const sessionsInFlight = new Gauge({
  name: 'eps_processor_sessions_in_flight',
  help: 'Creations that wait for the payment processor, each with a database connection',
});
const sessionsLimit = new Gauge({
  name: 'eps_processor_sessions_limit',
  help: 'Most creations of this process that may wait for the payment processor at once',
});
const sessionsRefused = new Counter({
  name: 'eps_processor_sessions_refused_total',
  help: 'Creations that were refused without asking the payment processor, by why',
  labelNames: ['reason'],
});

/** Maximum number of creations that may wait for the processor at once, by the connections in the database pool. */
export function sessionsAtOnce(poolSize: number): number {
  return Math.max(1, Math.floor(poolSize * POOL_SHARE));
}

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
  const maximumInFlight = sessionsAtOnce(poolSize);
  sessionsLimit.set(maximumInFlight);
  let inFlight = 0;
  const circuit = createCircuit({ clock, maximumFailures: MAXIMUM_FAILURES, pauseMs: PAUSE_MS });

  return {
    ...processor,
    async createSession(session) {
      if (inFlight >= maximumInFlight) {
        sessionsRefused.inc({ reason: 'busy' });
        throw new ApiError('E5002', 'The payment processor is too slow just now.');
      }
      if (circuit.isOpen()) {
        sessionsRefused.inc({ reason: 'unreachable' });
        throw new ApiError('E5002', 'The payment processor was not reachable a moment ago.');
      }
      circuit.attempt();
      inFlight += 1;
      sessionsInFlight.inc();
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
        sessionsInFlight.dec();
      }
    },
  };
}
