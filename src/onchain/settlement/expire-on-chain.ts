import type { BaseLogger } from 'pino';
import { handleDue } from '#payments/handle-due.ts';
import { movePayment } from '#payments/move-payment.ts';
import type { Connection, Database } from '#storage/database/connection.ts';
import { listUnderpaid, lockDuePayments } from '#storage/repositories/payments/moves.ts';

/**
 * Expires at most `limit` overdue payments without funds; underpaid ones become unsuccessful. A payment on a watched
 * chain waits until the watcher has read all blocks up to the payment's end, however far behind it is: `expired`
 * cannot be undone. A payment also waits while a transfer of too little is not final yet. Workers may run it
 * concurrently.
 * @param log Gets the error of a batch that did not recur when its payments were expired one by one.
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
    handle: (tx, payment) => expire(tx, payment, { now, actor: 'worker' }),
    what: 'expired',
    log,
  });
}

/** Expires a payment as `expirePayments` would, if it is due. Call it in a transaction. */
export async function expireIfDue(
  tx: Connection,
  paymentId: string,
  by: { readonly now: Date; readonly actor: string },
): Promise<void> {
  for (const due of await lockDue(tx, by.now, 1, paymentId)) await expire(tx, due, by);
}

interface DuePayment {
  readonly id: string;
  /** Whether too little has arrived. */
  readonly isUnderpaid: boolean;
}

async function lockDue(
  db: Connection,
  now: Date,
  limit: number,
  paymentId?: string,
): Promise<DuePayment[]> {
  const ids = await lockDuePayments(db, now, limit, paymentId);
  // Read under the locks: until then a transfer may still have arrived.
  const underpaid = new Set(ids.length === 0 ? [] : await listUnderpaid(db, ids));
  return ids.map(id => ({ id, isUnderpaid: underpaid.has(id) }));
}

async function expire(
  db: Connection,
  { id, isUnderpaid }: DuePayment,
  by: { readonly now: Date; readonly actor: string },
): Promise<void> {
  await movePayment(db, {
    paymentId: id,
    move: isUnderpaid ? 'expireUnderpaid' : 'expire',
    reason: isUnderpaid ? 'expired while underpaid' : 'expired without payment',
    ...by,
  });
}
