import type { PaymentEventType } from '#schemas/event.ts';
import type { Connection } from '../../src/database/connection.ts';
import type { Payment } from '../../src/database/payment-tables.ts';
import { newEvent } from '../../src/payments/new-event.ts';
import { insertEvent } from '../../src/repositories/payments/events.ts';

/** Records an event with the payment's current state. */
export function recordEvent(
  db: Connection,
  type: PaymentEventType,
  payment: Payment,
  now: Date,
): Promise<void> {
  return insertEvent(db, newEvent(type, payment, now));
}
