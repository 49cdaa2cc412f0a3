import type { Connection, Database } from '../database/connection.ts';
import { inSavepoint, transact } from '../database/transaction.ts';
import { movePayment } from '../payments/move-payment.ts';
import { type DuePayment, lockDuePayments } from '../repositories/payment-moves.ts';

/**
 * Expires at most `limit` payments whose time has passed and no funds have been seen for; those
 * paid too little become unsuccessful. Any number of workers share the work.
 * @returns How many it ended.
 * @throws AggregateError for those that could not be ended, when all others are.
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

/** One payment that cannot be ended must not keep the others from it. */
async function expireOneByOne(db: Database, now: Date, limit: number): Promise<number> {
  const failures: unknown[] = [];
  const ended = await transact(db, async tx => {
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
    throw new AggregateError(failures, `${failures.length} payments could not be ended`);
  }
  return ended;
}

async function expire(db: Connection, { id, underpaid }: DuePayment, now: Date): Promise<void> {
  await movePayment(db, {
    paymentId: id,
    move: underpaid ? 'expireUnderpaid' : 'expire',
    actor: 'worker',
    reason: underpaid ? 'time passed with too little paid' : 'time passed without payment',
    now,
  });
}
