import { quotedCommission } from '#payments/commission.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { Deposit } from '#storage/database/deposit-tables.ts';
import { findAskedBefore, reserveAgain } from '#storage/repositories/deposits/former-quotes.ts';
import { releaseReservation } from '#storage/repositories/deposits/reservations.ts';
import { lockPayment, updateOpenPayment } from '#storage/repositories/payments/moves.ts';

/** Added to the reason of a move, for the history. */
export const FORMER = '; it pays a former quote';

/**
 * Returns an open payment to the quote that a deposit pays, if it has another quote by now: on another network, at
 * another address, or of another amount. Call it with the address locked.
 * @returns Whether the payment had another quote.
 */
export async function returnToQuote(
  db: Connection,
  paymentId: string,
  deposit: Deposit,
  now: Date,
): Promise<boolean> {
  const payment = await lockPayment(db, paymentId);
  if (payment?.status !== 'pending' || payment.session_status !== 'pending') return false;
  const { outcome, token_amount: amount } = deposit;
  const isHere =
    payment.blockchain_id === deposit.blockchain_id && payment.address === deposit.address;
  // The usual case: the deposit pays the current quote.
  if (isHere && outcome !== 'rest' && (outcome !== 'exact' || payment.token_amount === amount)) {
    return false;
  }
  const before = await findAskedBefore(db, paymentId, deposit);
  if (before === undefined || (isHere && payment.token_amount === before.tokenAmount)) return false;
  await releaseReservation(db, paymentId, now);
  await reserveAgain(db, before.reservations);
  await updateOpenPayment(db, paymentId, {
    blockchain_id: deposit.blockchain_id,
    address: deposit.address,
    token_amount: before.tokenAmount,
    token_decimals: before.decimals,
    // None since the quote was withdrawn, if it was.
    commission_amount: quotedCommission(payment),
    quoted_at: before.reservedAt,
    // If the deposit is reversed, the price is held no longer than it was promised.
    quoted_until:
      before.promisedUntil < payment.expires_at ? before.promisedUntil : payment.expires_at,
  });
  return true;
}
