import { createHash } from 'node:crypto';
import { hasLapsed } from '#onchain/settlement/lapse-quotes.ts';
import { countTransfers } from '#payments/counted-transfers.ts';
import type { CHECKOUT_STAGES } from '#schemas/checkout.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import type { Checkout } from './checkout.ts';

/**
 * Stage of a payment on the checkout page:
 * - `choose`: no network is chosen, or the price of the choice has lapsed
 * - `waiting`: address and amount are shown
 * - `overdue`: the time is up, but the worker has not expired the payment yet
 * - `confirming`: enough funds have been seen, but are not final
 * - `paid`, `unsuccessful`, `expired`, `cancelled`: the payment has ended
 */
export type CheckoutStage = (typeof CHECKOUT_STAGES)[number];

/** Stages of payments that have ended. */
export const FINAL_STAGES: readonly CheckoutStage[] = [
  'paid',
  'unsuccessful',
  'expired',
  'cancelled',
];

export function stageOf(payment: Payment, now: Date): CheckoutStage {
  if (payment.status === 'successful') return 'paid';
  if (payment.status !== 'pending') return payment.status;
  if (payment.session_status === 'completed') return 'confirming';
  if (payment.expires_at <= now) return 'overdue';
  return payment.blockchain_id === null || hasLapsed(payment, now) ? 'choose' : 'waiting';
}

/** An opaque value that changes whenever the content of the payment's page changes. */
export function revisionOf(
  { payment, progress, transfers }: Pick<Checkout, 'payment' | 'progress' | 'transfers'>,
  stage: CheckoutStage,
): string {
  const { isDelayed, confirmations, rest, isOwnAddress } = progress;
  const { listed, earlier } = countTransfers(payment, transfers);
  const shown = [
    stage,
    payment.blockchain_id,
    payment.address,
    payment.token_amount,
    payment.expires_at,
    payment.quoted_until,
    payment.transaction_hash,
    payment.last_error_code,
    payment.last_error_at,
    isDelayed,
    isOwnAddress,
    confirmations?.blocks,
    confirmations?.required,
    rest === null || rest === 'awaited' ? rest : String(rest.remaining),
    earlier,
    listed.map(({ transfer, ...counted }) => [
      transfer.id,
      transfer.token_amount,
      transfer.state,
      counted,
    ]),
  ];
  return createHash('sha256').update(JSON.stringify(shown)).digest('base64url').slice(0, 16);
}
