import type { BaseLogger } from 'pino';
import { expirePayments } from '#onchain/settlement/expire-on-chain.ts';
import type { Database } from '#storage/database/connection.ts';
import type { Clock } from '#time/clock.ts';
import type { Loop } from './loop.ts';

/** Payments per transaction: few enough that locks are short. */
const BATCH = 50;
/** Concurrent transactions while many are due; each skips the rows locked by the others. */
const CONCURRENCY = 4;
/** Together, the interval and the pause let a payment expire within two seconds of its time, even after an outage. */
const INTERVAL_MS = 1_000;
const MAXIMUM_PAUSE_MS = 1_000;

/** Expires on-chain payments. */
export function expirePaymentsLoop(
  db: Database,
  clock: Clock,
  log: Pick<BaseLogger, 'warn'>,
): Loop {
  return {
    name: 'expire-payments',
    intervalMs: INTERVAL_MS,
    maximumPauseMs: MAXIMUM_PAUSE_MS,
    async run(signal) {
      const expire = () => expirePayments(db, new Date(clock()), BATCH, log);
      let full = (await expire()) === BATCH;
      while (full && !signal.aborted) {
        const batches = Array.from({ length: CONCURRENCY }, expire);
        const expired = await Promise.all(batches);
        full = expired.every(count => count === BATCH);
      }
    },
  };
}
