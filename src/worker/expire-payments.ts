import type { Clock } from '../clock.ts';
import type { Database } from '../database/connection.ts';
import { expirePayments } from '../settlement/expire-payments.ts';
import type { Loop } from './loop.ts';

/** Payments ended in one transaction: few enough that their rows are not held for long. */
const BATCH = 100;
/** A payment expires within two seconds of its time. */
const INTERVAL_MS = 500;

/** Ends payments on time. */
export function expirePaymentsLoop(db: Database, clock: Clock): Loop {
  return {
    name: 'expire-payments',
    intervalMs: INTERVAL_MS,
    async run(signal) {
      let ended = BATCH;
      while (ended === BATCH && !signal.aborted) {
        ended = await expirePayments(db, new Date(clock()), BATCH);
      }
    },
  };
}
