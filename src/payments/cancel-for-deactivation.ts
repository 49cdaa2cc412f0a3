import type { Connection } from '../database/connection.ts';
import type { Payment } from '../database/payment-tables.ts';
import { movePayment } from './move-payment.ts';

/** `cancellationReason` of a payment whose merchant was deactivated. */
export const MERCHANT_DEACTIVATED = 'merchant_deactivated';

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
    columns: { cancellation_reason: MERCHANT_DEACTIVATED },
    now,
  });
}
