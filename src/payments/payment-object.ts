import type { PaymentObject, PaymentSnapshot } from '#schemas/payment.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import type { ShownPayment } from '#storage/repositories/payments/merchant-payments.ts';
import { formatBaseUnits } from './token-amount.ts';

/** The payment object of the merchant API: cents, ISO 8601 and decimal strings. */
export function toPaymentObject(payment: ShownPayment): PaymentObject {
  return {
    object: 'payment_prompt',
    id: payment.id,
    amount: payment.amount,
    commissionAmount: payment.commission_amount,
    commissionPayer: payment.commission_payer,
    settlementModel: payment.settlement_model,
    status: payment.status,
    sessionStatus: payment.session_status,
    blockchainId: payment.blockchain_id,
    tokenAmount: tokenAmountOf(payment),
    transactionHash: payment.transaction_hash,
    paidAt: payment.paid_at === null ? null : toIsoText(payment.paid_at),
    expiresAt: toIsoText(payment.expires_at),
    createdAt: toIsoText(payment.created_at),
    redirectUrl: payment.redirect_url,
    customerReferenceId: payment.customer_reference_id,
    cancellationReason: payment.cancellation_reason,
    lastError: lastErrorOf(payment),
  };
}

/** An instant in ISO 8601 with milliseconds. Text was read in this form already. */
function toIsoText(instant: Date | string): string {
  return typeof instant === 'string' ? instant : instant.toISOString();
}

/** The snapshot in events: the payment object and the processor's reference. */
export function toPaymentSnapshot(payment: Payment): PaymentSnapshot {
  return { ...toPaymentObject(payment), externalId: payment.external_id };
}

function tokenAmountOf({
  token_amount: amount,
  token_decimals: decimals,
}: ShownPayment): string | null {
  return amount === null || decimals === null ? null : formatBaseUnits(BigInt(amount), decimals);
}

function lastErrorOf(payment: ShownPayment): PaymentObject['lastError'] {
  const { last_error_code: code, last_error_message: message, last_error_at: at } = payment;
  if (code === null || message === null || at === null) return null;
  return { code, message, occurredAt: toIsoText(at) };
}
