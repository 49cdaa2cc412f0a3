import type { BaseLogger } from 'pino';
import { lapseQuotes } from '#onchain/settlement/lapse-quotes.ts';
import type { Database } from '#storage/database/connection.ts';
import type { Clock } from '#time/clock.ts';
import { batchLoop } from './batch-loop.ts';
import type { Loop } from './loop.ts';

/** Payments per transaction: few enough that locks are short. */
const BATCH = 50;
/** How long a transfer may still pay an expired price, which the checkout no longer shows. */
const INTERVAL_MS = 5_000;

/** Removes expired prices from payments that stay open. */
export function lapseQuotesLoop(db: Database, clock: Clock, log: Pick<BaseLogger, 'warn'>): Loop {
  const options = { name: 'lapse-quotes', intervalMs: INTERVAL_MS, size: BATCH };
  return batchLoop(options, () => lapseQuotes(db, new Date(clock()), BATCH, log));
}
