import type { BaseLogger } from 'pino';
import type { Connection, Database } from '#storage/database/connection.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { lockOpenOfInactive } from '#storage/repositories/accounts/inactive-merchants.ts';
import { handleDue } from './handle-due.ts';
import { movePayment } from './move-payment.ts';

/**
 * Cancels at most `limit` open on-chain payments of merchants that are inactive, whenever they were deactivated.
 * Payments for which any funds have been seen, even too little, are not cancelled. Workers may run it concurrently.
 * @param log Gets the error of a batch whose payments were then cancelled one by one.
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

/**
 * Cancels an open payment because its merchant was deactivated. Call it in a transaction.
 * @returns The payment; undefined when it is no longer open.
 */
export function cancelForDeactivation(
  db: Connection,
  paymentId: string,
  now: Date,
): Promise<Payment | undefined> {
  return movePayment(db, {
    paymentId,
    move: 'cancel',
    actor: 'worker',
    reason: 'the merchant was deactivated',
    columns: { cancellation_reason: 'merchant_deactivated' },
    now,
  });
}
