import { v7 as uuidv7 } from 'uuid';
import type { Connection } from '../database/connection.ts';
import type { Payment } from '../database/tables.ts';
import { toPaymentSnapshot } from '../payments/payment-object.ts';
import { insertEvent } from '../repositories/events.ts';

/** Everything a merchant is told of a payment. */
export const EVENT_TYPES = [
  'payment_prompt.created',
  'payment_prompt.detected',
  'payment_prompt.successful',
  'payment_prompt.unsuccessful',
  'payment_prompt.expired',
  'payment_prompt.cancelled',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/**
 * Records an event with the payment as it is now; call it in the transaction of the change it
 * tells, so that one never exists without the other.
 */
export async function recordEvent(
  db: Connection,
  type: EventType,
  payment: Payment,
  now: Date,
): Promise<void> {
  await insertEvent(db, {
    id: uuidv7(),
    merchant_id: payment.merchant_id,
    payment_id: payment.id,
    type,
    created_at: now,
    data: JSON.stringify(toPaymentSnapshot(payment)),
  });
}
