import { newEvent } from '#payments/new-event.ts';
import type { PaymentEventType } from '#schemas/event.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { insertEvent } from '#storage/repositories/payments/events.ts';

/** Records an event with the payment's current state. */
export function recordEvent(
  db: Connection,
  type: PaymentEventType,
  payment: Payment,
  now: Date,
): Promise<void> {
  return insertEvent(db, newEvent(type, payment, now));
}
