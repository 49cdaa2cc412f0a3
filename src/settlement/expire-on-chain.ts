import type { BaseLogger } from 'pino';
import type { Connection, Database } from '../database/connection.ts';
import { movePayment } from '../payments/move-payment.ts';
import { type DuePayment, lockDuePayments } from '../repositories/payment-moves.ts';
import { handleDue } from './handle-due.ts';

/**
 * Expires at most `limit` overdue payments without funds; underpaid ones become unsuccessful.
 * Workers may run it concurrently.
 * @param log Told of an error that did not come again when the payments were expired one by one.
 * @returns The number of payments expired.
 * @throws AggregateError with the payments that failed, after all others have expired.
 */
export function expirePayments(
  db: Database,
  now: Date,
  limit: number,
  log?: Pick<BaseLogger, 'warn'>,
): Promise<number> {
  return handleDue(db, {
    lock: tx => lockDuePayments(tx, now, limit),
    handle: (tx, payment) => expire(tx, payment, now),
    what: 'expired',
    log,
  });
}

async function expire(db: Connection, { id, underpaid }: DuePayment, now: Date): Promise<void> {
  await movePayment(db, {
    paymentId: id,
    move: underpaid ? 'expireUnderpaid' : 'expire',
    actor: 'worker',
    reason: underpaid ? 'expired while underpaid' : 'expired without payment',
    now,
  });
}
