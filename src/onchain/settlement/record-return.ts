import { audited, OperationRefused, type Operator } from '#accounts/audit/audited-change.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { BookedDeposit, BookedReturn } from '#storage/database/deposit-tables.ts';
import {
  findBookedDeposit,
  findReturns,
  insertReturn,
} from '#storage/repositories/deposits/returns.ts';
import { findPayment } from '#storage/repositories/payments/payments.ts';
import { type Return, requireDeposit } from './inbox.ts';

/**
 * Records that a partial payment was returned: its payment ended without the rest, or was paid on another network.
 * @throws OperationRefused for a deposit that is not such a part, and for one whose return is recorded already.
 */
export function recordReturn(
  operator: Operator,
  depositId: string,
  given: Return,
): Promise<BookedReturn> {
  return audited(operator, 'deposit.return', async (tx, now) => {
    const { paymentId, part } = await requirePart(tx, depositId);
    const { to, hash, note } = given;
    const result = await insertReturn(tx, {
      deposit_id: depositId,
      merchant_id: part.merchant_id,
      // Clocks of processes differ, but the cursor of the books, a time and an ID, has to tell the rows of deposit
      // and return apart.
      booked_at: new Date(Math.max(now.getTime(), part.booked_at.getTime() + 1)),
      returned_to: to,
      transaction_hash: hash,
      note: note ?? null,
    });
    return { result, objectId: depositId, detail: { paymentId, ...given } };
  });
}

/** The partial payment, whose row is locked, and its payment. */
async function requirePart(
  db: Connection,
  id: string,
): Promise<{ readonly paymentId: string; readonly part: BookedDeposit }> {
  const { payment_id: paymentId, dismissed_at: dismissedAt, state } = await requireDeposit(db, id);
  if (dismissedAt !== null) throw new OperationRefused('deposit-dismissed');
  if (paymentId === null && (state === 'seen' || state === 'final')) {
    throw new OperationRefused('return-of-unmatched');
  }
  if (paymentId === null || state !== 'final') {
    throw new OperationRefused('return-not-final', { state });
  }
  const part = await findBookedDeposit(db, id);
  if (part === undefined) {
    const payment = await findPayment(db, paymentId);
    const isOpen = payment?.status === 'pending';
    const code = isOpen ? 'return-for-open-payment' : 'return-for-paid-payment';
    throw new OperationRefused(code, { paymentId });
  }
  if ((await findReturns(db, [id])).has(id)) throw new OperationRefused('return-already-recorded');
  return { paymentId, part };
}
