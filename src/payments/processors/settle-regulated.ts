import type { Database } from '#storage/database/connection.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { transact } from '#storage/database/transaction.ts';
import type { PaymentColumns } from '#storage/repositories/payments/moves.ts';
import { lockPaymentOfSession } from '#storage/repositories/payments/processor-sessions.ts';
import type { TraceContext } from '#telemetry/trace-context.ts';
import { commissionCents, dueCents } from '../commission.ts';
import { movePayment } from '../move-payment.ts';
import type { MoveName } from '../moves.ts';
import type { ProcessorNotification } from '../processor.ts';

/** Outcome of a notification, with the payment afterwards. */
export type Settlement =
  | { readonly outcome: 'moved' | 'repeated' | 'ignored' | 'mismatched'; readonly payment: Payment }
  /** Money for a payment that has ended: an operator has to refund it. */
  | { readonly outcome: 'unexpected'; readonly payment: Payment }
  /** A session whose payment was never committed: `unknown` if it was paid, else `abandoned`. */
  | { readonly outcome: 'unknown' | 'abandoned'; readonly payment: null };

const MOVE_OF: Readonly<Record<ProcessorNotification['kind'], MoveName>> = {
  seen: 'detect',
  settled: 'confirm',
  failed: 'fail',
  cancelled: 'cancel',
  expired: 'expire',
};

const BRINGS_MONEY: ReadonlySet<ProcessorNotification['kind']> = new Set(['seen', 'settled']);

/**
 * Applies a verified notification to its payment, in one transaction.
 *
 * Notifications may arrive repeatedly, late and in any order. A move that the payment's state does
 * not allow changes nothing, and final states are never left.
 * @param origin Trace of the request that delivered the notification, and the actor in the history if
 * that is not the processor.
 */
export function settleRegulated(
  db: Database,
  processor: string,
  notification: ProcessorNotification,
  now: Date,
  {
    trace = null,
    actor = processor,
  }: { trace?: TraceContext | null; actor?: string | undefined } = {},
): Promise<Settlement> {
  return transact(db, async tx => {
    const payment = await lockPaymentOfSession(tx, processor, notification.externalId);
    if (payment === undefined) {
      return {
        outcome: BRINGS_MONEY.has(notification.kind) ? 'unknown' : 'abandoned',
        payment: null,
      };
    }
    const { kind, notificationId, amountCents, currency } = notification;
    if (amountCents !== dueCents(payment) || currency !== 'usd') {
      return { outcome: 'mismatched', payment };
    }
    const moved = await movePayment(tx, {
      paymentId: payment.id,
      move: MOVE_OF[kind],
      actor,
      reason: `${kind} by notification ${notificationId}`,
      columns: columnsOf(payment, notification, now),
      now,
      trace,
    });
    if (moved !== undefined) return { outcome: 'moved', payment: moved };
    return { outcome: classifyRefused(payment, notification), payment };
  });
}

function columnsOf(
  payment: Payment,
  notification: ProcessorNotification,
  now: Date,
): PaymentColumns {
  switch (notification.kind) {
    case 'settled':
      return {
        transaction_hash: notification.transactionReference,
        commission_amount:
          notification.commissionCents ?? commissionCents(payment.amount, payment.commission_bps),
      };
    case 'failed':
      return {
        last_error_code: 'payment_failed',
        last_error_message: 'The payment processor reports that the payment failed.',
        last_error_at: now,
      };
    case 'cancelled':
      return { cancellation_reason: 'cancelled_by_customer' };
    default:
      return {};
  }
}

/** Distinguishes repeated and late notifications from unexpected money. */
function classifyRefused(
  { status, session_status, transaction_hash }: Payment,
  { kind, transactionReference }: ProcessorNotification,
): 'repeated' | 'ignored' | 'unexpected' {
  switch (kind) {
    case 'settled':
      // A second transaction for a settled payment is money to refund, too.
      return status === 'successful' && transaction_hash === transactionReference
        ? 'repeated'
        : 'unexpected';
    case 'seen':
      return session_status === 'completed' ? 'repeated' : 'ignored';
    case 'failed':
      return status === 'unsuccessful' ? 'repeated' : 'ignored';
    default:
      return status === kind ? 'repeated' : 'ignored';
  }
}
