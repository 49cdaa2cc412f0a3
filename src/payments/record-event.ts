import type { PaymentEventType } from '#schemas/event.ts';
import { newId } from '../crypto/new-id.ts';
import type { Connection } from '../database/connection.ts';
import type { Payment } from '../database/payment-tables.ts';
import { insertEvent, type NewEvent } from '../repositories/events.ts';
import type { TraceContext } from '../telemetry/trace-context.ts';
import { toPaymentSnapshot } from './payment-object.ts';

/**
 * An event with the payment's current state.
 * @param trace Trace of the request that causes it, which its deliveries pass on.
 */
export function newEvent(
  type: PaymentEventType,
  payment: Payment,
  now: Date,
  trace: TraceContext | null = null,
): NewEvent {
  return {
    id: newId(),
    merchantId: payment.merchant_id,
    paymentId: payment.id,
    type,
    createdAt: now,
    data: JSON.stringify(toPaymentSnapshot(payment)),
    traceparent: trace?.traceparent ?? null,
    tracestate: trace?.tracestate ?? null,
  };
}

/**
 * Records an event with the payment's current state. Call it in the transaction of the change, so that
 * neither exists without the other.
 */
export function recordEvent(
  db: Connection,
  type: PaymentEventType,
  payment: Payment,
  now: Date,
  trace?: TraceContext | null,
): Promise<void> {
  return insertEvent(db, newEvent(type, payment, now, trace));
}
