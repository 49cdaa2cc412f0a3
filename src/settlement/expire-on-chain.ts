import type { BaseLogger } from 'pino';
import type { Connection, Database } from '../database/connection.ts';
import { handleDue } from '../payments/handle-due.ts';
import { movePayment } from '../payments/move-payment.ts';
import { listUnderpaid, lockDuePayments } from '../repositories/payments/moves.ts';

/**
 * Expires at most `limit` overdue payments without funds; underpaid ones become unsuccessful. A payment on a
 * watched chain waits until the watcher has read all blocks up to the payment's end, however far behind it is:
 * `expired` cannot be undone. A payment also waits while a transfer of too little is not final yet. Workers may run
 * it concurrently.
 * @param log Gets an error that did not come again when the payments were expired one by one.
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
    lock: tx => lockDue(tx, now, limit),
    handle: (tx, payment) => expire(tx, payment, now),
    what: 'expired',
    log,
  });
}

interface DuePayment {
  readonly id: string;
  /** Whether too little has arrived. */
  readonly isUnderpaid: boolean;
}

async function lockDue(db: Connection, now: Date, limit: number): Promise<DuePayment[]> {
  const ids = await lockDuePayments(db, now, limit);
  // Read under the locks: until then a transfer may still have arrived.
  const underpaid = new Set(ids.length === 0 ? [] : await listUnderpaid(db, ids));
  return ids.map(id => ({ id, isUnderpaid: underpaid.has(id) }));
}

async function expire(db: Connection, { id, isUnderpaid }: DuePayment, now: Date): Promise<void> {
  await movePayment(db, {
    paymentId: id,
    move: isUnderpaid ? 'expireUnderpaid' : 'expire',
    actor: 'worker',
    reason: isUnderpaid ? 'expired while underpaid' : 'expired without payment',
    now,
  });
}
