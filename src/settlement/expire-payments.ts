import type { Database } from '../database/connection.ts';
import { movePayment } from '../payments/move-payment.ts';
import { lockDuePayments } from '../repositories/payment-moves.ts';

/**
 * Expires at most `limit` payments whose time has passed and no funds have been seen for; those
 * paid too little become unsuccessful. Any number of workers share the work.
 * @returns How many it ended.
 */
export function expirePayments(db: Database, now: Date, limit: number): Promise<number> {
  return db.transaction().execute(async tx => {
    const due = await lockDuePayments(tx, now, limit);
    for (const { id, underpaid } of due) {
      await movePayment(tx, {
        paymentId: id,
        move: underpaid ? 'expireUnderpaid' : 'expire',
        actor: 'worker',
        reason: underpaid ? 'time passed with too little paid' : 'time passed without payment',
        now,
      });
    }
    return due.length;
  });
}
