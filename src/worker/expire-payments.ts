import type { Database } from '../database/connection.ts';
import { expirePayments } from '../settlement/expire-payments.ts';
import type { Clock } from '../time/clock.ts';
import type { Loop } from './loop.ts';

/** Payments ended in one transaction: few enough that their rows are not held for long. */
const BATCH = 50;
/** Transactions side by side; each takes rows that no other has. */
const CONCURRENCY = 4;
/** A payment expires within two seconds of its time, after an outage as well. */
const INTERVAL_MS = 500;
const LONGEST_PAUSE_MS = 1_000;

/** Ends payments on time. */
export function expirePaymentsLoop(db: Database, clock: Clock): Loop {
  return {
    name: 'expire-payments',
    intervalMs: INTERVAL_MS,
    longestPauseMs: LONGEST_PAUSE_MS,
    async run(signal) {
      let full = true;
      while (full && !signal.aborted) {
        const batches = Array.from({ length: CONCURRENCY }, () =>
          expirePayments(db, new Date(clock()), BATCH),
        );
        const ended = await Promise.all(batches);
        full = ended.every(count => count === BATCH);
      }
    },
  };
}
