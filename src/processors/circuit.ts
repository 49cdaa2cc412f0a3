import { ApiError } from '../errors/api-error.ts';
import { type Processor, ProcessorUnavailable } from '../payments/processor.ts';
import type { Clock } from '../time/clock.ts';

/** Failures in a row after which the processor is left alone. */
const FAILURES_MAXIMUM = 3;
/** How long it is left alone, in milliseconds, before one call tries again. */
const PAUSE_MS = 10_000;

/**
 * Refuses sessions at once while the processor is known to be unreachable, but for one call that
 * tries again after each pause.
 *
 * A creation holds a database connection while it waits for the processor. Without this, a processor
 * that hangs would soon hold all of them, and payments that have nothing to do with it would wait.
 * What is refused here was never executed, so it is E5002 and keeps no idempotency key.
 */
export function withCircuit<P extends Processor>(processor: P, clock: Clock): P {
  let failures = 0;
  let closedUntil = 0;

  return {
    ...processor,
    async createSession(session) {
      if (failures >= FAILURES_MAXIMUM) {
        if (clock() < closedUntil) {
          throw new ApiError('E5002', 'The payment processor was not reachable a moment ago.');
        }
        // Whoever else comes while this call is under way finds the next pause begun.
        closedUntil = clock() + PAUSE_MS;
      }
      try {
        const created = await processor.createSession(session);
        failures = 0;
        return created;
      } catch (error) {
        if (error instanceof ProcessorUnavailable) {
          failures += 1;
          closedUntil = clock() + PAUSE_MS;
        } else {
          failures = 0;
        }
        throw error;
      }
    },
  };
}
