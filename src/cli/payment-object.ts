import type { Payment } from '../database/tables.ts';
import { toPaymentSnapshot } from '../payments/payment-object.ts';

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
