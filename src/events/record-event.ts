import { v7 as uuidv7 } from 'uuid';
import type { EventType } from '#schemas/event.ts';
import type { Connection } from '../database/connection.ts';
import type { Payment } from '../database/tables.ts';
import { toPaymentSnapshot } from '../payments/payment-object.ts';
import { insertEvent } from '../repositories/events.ts';

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
