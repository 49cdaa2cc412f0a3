import { OperationRefused } from '../accounts/audited-change.ts';
import type { Connection } from '../database/connection.ts';
import type { Payment } from '../database/payment-tables.ts';
import { RESPONSE_LIFETIME_MS } from '../payments/idempotency.ts';
import { findCheckoutUrl } from '../payments/known-checkout-url.ts';
import { toPaymentSnapshot } from '../payments/payment-object.ts';
import { listPaymentDeposits } from '../repositories/deposits.ts';
import { listTransitions } from '../repositories/payment-moves.ts';
import { findPayment } from '../repositories/payments.ts';
import { depositObjects } from './deposit-object.ts';
import type { Session } from './session.ts';

const NOT_KNOWN =
  'Not known: it is in the response to the creation, which is kept for ' +
  `${RESPONSE_LIFETIME_MS / 3_600_000} hours and only under an idempotency key.`;

/** A payment as commands print it: that of the API, with what only an operator is shown. */
export function paymentFields(payment: Payment) {
  const { object, ...shown } = toPaymentSnapshot(payment);
  return {
    ...shown,
    merchantId: payment.merchant_id,
    branchId: payment.branch_id,
    partnerId: payment.partner_id,
    createdBy: payment.created_by,
    flow: payment.flow,
    processor: payment.processor,
    address: payment.address,
    offeredBlockchainIds: payment.offered_blockchain_ids,
    note: payment.note,
  };
}

/** Adds the payment's history, its deposits and, where it is known, its checkout URL. */
export async function paymentObject({ db, keyring }: Session, payment: Payment) {
  const [transitions, deposits, checkoutUrl] = await Promise.all([
    listTransitions(db, payment.id),
    listPaymentDeposits(db, payment.id),
    findCheckoutUrl(db, keyring, payment),
  ]);
  return {
    ...paymentFields(payment),
    checkoutUrl: checkoutUrl ?? null,
    ...(checkoutUrl === undefined ? { checkoutUrlNote: NOT_KNOWN } : {}),
    history: transitions.map(transition => ({
      at: transition.at,
      from: `${transition.from_status}/${transition.from_session_status}`,
      to: `${transition.to_status}/${transition.to_session_status}`,
      actor: transition.actor,
      reason: transition.reason,
    })),
    deposits: await depositObjects(db, deposits),
  };
}

/** @throws OperationRefused for an unknown payment. */
export async function requirePayment(db: Connection, id: string): Promise<Payment> {
  const payment = await findPayment(db, id);
  if (payment === undefined) throw new OperationRefused(`There is no payment ${id}.`);
  return payment;
}
