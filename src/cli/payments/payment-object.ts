import { OperationRefused } from '#accounts/audit/audited-change.ts';
import { toPaymentSnapshot } from '#payments/payment-object.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { listPaymentDeposits } from '#storage/repositories/deposits/deposits.ts';
import { listStrayDeposits } from '#storage/repositories/deposits/deviations.ts';
import { listTransitions } from '#storage/repositories/payments/moves.ts';
import { findPayment } from '#storage/repositories/payments/payments.ts';
import type { Session } from '../session.ts';
import { depositObjects } from './deposit-object.ts';

/** A payment as commands print it: as in the API, with what only operators see. */
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

/** Adds the payment's history, its deposits, and deposits of its amount that came too late or twice. */
export async function paymentObject({ db }: Session, payment: Payment) {
  const [transitions, deposits, strays] = await Promise.all([
    listTransitions(db, payment.id),
    listPaymentDeposits(db, payment.id),
    listStrayDeposits(db, payment.id),
  ]);
  return {
    ...paymentFields(payment),
    history: transitions.map(transition => ({
      at: transition.at,
      from: `${transition.from_status}/${transition.from_session_status}`,
      to: `${transition.to_status}/${transition.to_session_status}`,
      actor: transition.actor,
      reason: transition.reason,
    })),
    deposits: await depositObjects(db, deposits),
    strayDeposits: await depositObjects(db, strays),
  };
}

/** @throws OperationRefused for an unknown payment. */
export async function requirePayment(db: Connection, id: string): Promise<Payment> {
  const payment = await findPayment(db, id);
  if (payment === undefined) throw new OperationRefused('payment-unknown', { paymentId: id });
  return payment;
}
