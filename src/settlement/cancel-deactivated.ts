import type { BaseLogger } from 'pino';
import type { Database } from '../database/connection.ts';
import { cancelForDeactivation } from '../payments/cancel-for-deactivation.ts';
import { lockOpenOfInactive } from '../repositories/inactive-merchants.ts';
import { handleDue } from './handle-due.ts';

/**
 * Cancels at most `limit` open on-chain payments of merchants that are inactive, whenever they were
 * deactivated. Payments for which any funds have been seen run on, also where it was too little.
 * Workers may run it concurrently.
 * @param log Told of an error that did not come again when the payments were cancelled one by one.
 * @returns The number of payments cancelled.
 * @throws AggregateError with the payments that failed, after all others.
 */
export function cancelDeactivated(
  db: Database,
  now: Date,
  limit: number,
  log?: Pick<BaseLogger, 'warn'>,
): Promise<number> {
  return handleDue(db, {
    lock: tx => lockOpenOfInactive(tx, limit),
    handle: (tx, id) => cancelForDeactivation(tx, id, now),
    what: 'cancelled',
    log,
  });
}
