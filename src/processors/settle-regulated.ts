import type { Database } from '../database/connection.ts';
import type { Payment } from '../database/tables.ts';
import { inTransaction } from '../database/transaction.ts';
import { commissionCents, dueCents } from '../payments/commission.ts';
import { type MoveRequest, movePayment } from '../payments/move-payment.ts';
import type { MoveName } from '../payments/moves.ts';
import type { ProcessorNotification } from '../payments/processor.ts';
import type { PaymentColumns } from '../repositories/payment-moves.ts';
import { lockPaymentOfSession } from '../repositories/regulated-payments.ts';
import type { TraceContext } from '../telemetry/trace-context.ts';

/** What became of a notification, with the payment as it is afterwards. */
export type Settlement =
  | { readonly outcome: 'moved' | 'repeated' | 'ignored' | 'mismatched'; readonly payment: Payment }
  /** Money for a payment that ended without it: an operator has to give it back. */
  | { readonly outcome: 'unexpected'; readonly payment: Payment }
  /** A session of ours whose payment was never committed: paid for nothing, or just over. */
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
 * Moves the payment that a verified notification is about, in one transaction.
 *
 * Notifications come more than once, late and in any order. The payment's own states decide: what
 * they do not allow changes nothing, and nothing leads out of a final one.
 * @param trace Trace of the notification, when it came as a request.
 */
export function settleRegulated(
  db: Database,
  processor: string,
  notification: ProcessorNotification,
  now: Date,
  trace: TraceContext | null = null,
): Promise<Settlement> {
  return inTransaction(db, async tx => {
    const payment = await lockPaymentOfSession(tx, processor, notification.externalId);
    if (payment === undefined) {
      return {
        outcome: BRINGS_MONEY.has(notification.kind) ? 'unknown' : 'abandoned',
        payment: null,
      };
    }
    const { amountCents, currency } = notification;
    if (amountCents !== dueCents(payment) || currency !== 'usd') {
      return { outcome: 'mismatched', payment };
    }
    const moved = await movePayment(tx, {
      ...moveFor(processor, payment, notification, now),
      trace,
    });
    if (moved !== undefined) return { outcome: 'moved', payment: moved };
    return { outcome: whyNot(payment, notification), payment };
  });
}

function moveFor(
  processor: string,
  payment: Payment,
  notification: ProcessorNotification,
  now: Date,
): MoveRequest {
  const { kind, notificationId } = notification;
  return {
    paymentId: payment.id,
    move: MOVE_OF[kind],
    actor: processor,
    reason: `${kind}, says notification ${notificationId}`,
    columns: columnsOf(payment, notification, now),
    now,
  };
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

/** Tells a notification that comes again or too late from money that nobody waits for. */
function whyNot(
  { status, session_status, transaction_hash }: Payment,
  { kind, transactionReference }: ProcessorNotification,
): 'repeated' | 'ignored' | 'unexpected' {
  switch (kind) {
    case 'settled':
      // A second transaction for a payment that is settled already is money as well.
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
