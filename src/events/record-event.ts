import type { EventType } from '#schemas/event.ts';
import { newId } from '../crypto/new-id.ts';
import type { Connection } from '../database/connection.ts';
import type { Payment } from '../database/tables.ts';
import { toPaymentSnapshot } from '../payments/payment-object.ts';
import { insertEvent, type NewEvent } from '../repositories/events.ts';

/** An event that tells the payment as it is now. */
export function newEvent(type: EventType, payment: Payment, now: Date): NewEvent {
  return {
    id: newId(),
    merchantId: payment.merchant_id,
    paymentId: payment.id,
    type,
    createdAt: now,
    data: JSON.stringify(toPaymentSnapshot(payment)),
  };
}

/**
 * Records an event with the payment as it is now; call it in the transaction of the change it
 * tells, so that one never exists without the other.
 */
export function recordEvent(
  db: Connection,
  type: EventType,
  payment: Payment,
  now: Date,
): Promise<void> {
  return insertEvent(db, newEvent(type, payment, now));
}
