import { newId } from '#crypto/new-id.ts';
import type { PaymentEventType } from '#schemas/event.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import type { NewEvent } from '#storage/repositories/payments/events.ts';
import type { TraceContext } from '#telemetry/trace-context.ts';
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
