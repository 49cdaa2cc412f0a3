import type { Connection, Database } from '../database/connection.ts';
import { inSavepoint, transact } from '../database/transaction.ts';
import { movePayment } from '../payments/move-payment.ts';
import { type DuePayment, lockDuePayments } from '../repositories/payment-moves.ts';

/**
 * Expires at most `limit` overdue payments without funds; underpaid ones become unsuccessful.
 * Workers may run it concurrently.
 * @returns The number of payments expired.
 * @throws AggregateError with the payments that failed, after all others have expired.
 */
export async function expirePayments(db: Database, now: Date, limit: number): Promise<number> {
  try {
    return await transact(db, async tx => {
      const due = await lockDuePayments(tx, now, limit);
      for (const payment of due) await expire(tx, payment, now);
      return due.length;
    });
  } catch {
    return expireOneByOne(db, now, limit);
  }
}

/** One payment that fails must not block the others. */
async function expireOneByOne(db: Database, now: Date, limit: number): Promise<number> {
  const failures: unknown[] = [];
  const expired = await transact(db, async tx => {
    const due = await lockDuePayments(tx, now, limit);
    for (const payment of due) {
      await inSavepoint(
        tx,
        () => expire(tx, payment, now),
        error => void failures.push(error),
      );
    }
    return due.length - failures.length;
  });
  if (failures.length > 0) {
    throw new AggregateError(failures, `${failures.length} payments could not be expired`);
  }
  return expired;
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
