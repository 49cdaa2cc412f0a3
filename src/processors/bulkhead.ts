import { ApiError } from '../errors/api-error.ts';
import type { Processor } from '../payments/processor.ts';

/** How much of the pool creations that wait for the processor may hold: the rest serves the others. */
const SHARE_OF_POOL = 1 / 3;

/**
 * Refuses sessions at once while as many are under way as may hold a database connection.
 *
 * A processor that is slow but answers never opens the circuit, and each creation that waits for it
 * holds a connection: without this, they would soon hold all of them.
 */
export function withBulkhead<P extends Processor>(processor: P, poolSize: number): P {
  const maximum = Math.max(1, Math.floor(poolSize * SHARE_OF_POOL));
  let underWay = 0;

  return {
    ...processor,
    async createSession(session) {
      if (underWay >= maximum) {
        throw new ApiError('E5002', 'The payment processor is too slow just now.');
      }
      underWay += 1;
      try {
        return await processor.createSession(session);
      } finally {
        underWay -= 1;
      }
    },
  };
}
