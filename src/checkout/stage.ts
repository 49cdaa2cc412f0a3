import { createHash } from 'node:crypto';
import type { CHECKOUT_STAGES } from '#schemas/checkout.ts';
import type { Payment } from '../database/tables.ts';

/**
 * What a customer sees of a payment:
 * - `choose`: no network yet
 * - `waiting`: address and amount are shown
 * - `overdue`: the time has passed, the worker has not ended the payment yet
 * - `confirming`: enough funds are seen, but not final
 * - `paid`, `unsuccessful`, `expired`, `cancelled`: ended
 */
export type CheckoutStage = (typeof CHECKOUT_STAGES)[number];

/** Stages that nothing follows. */
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
  return payment.blockchain_id === null ? 'choose' : 'waiting';
}

/** Changes whenever a page of the payment would show something else; says nothing by itself. */
export function revisionOf(payment: Payment, stage: CheckoutStage): string {
  const shown = [
    stage,
    payment.blockchain_id,
    payment.address,
    payment.token_amount,
    payment.expires_at,
    payment.transaction_hash,
    payment.last_error_code,
    payment.last_error_at,
  ];
  return createHash('sha256').update(JSON.stringify(shown)).digest('base64url').slice(0, 16);
}
