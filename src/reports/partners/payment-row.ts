import { toDollars } from '#payments/dollars.ts';
import { toPaymentObject } from '#payments/payment-object.ts';
import type { PartnerPaymentRow } from '#schemas/partner-reports.ts';
import type { PartnerPayment } from '#storage/repositories/partners/payments.ts';

/** IDs of the test merchants among the payments' merchants. */
export function testMerchantsOf(payments: readonly PartnerPayment[]): Set<string> {
  const ofTest = payments.filter(payment => payment.merchant_environment === 'test');
  return new Set(ofTest.map(payment => payment.merchant_id));
}

/** A payment in a partner report: in dollars, with address, branch and merchant. */
export function toReportRow(payment: PartnerPayment): PartnerPaymentRow {
  const shown = toPaymentObject(payment);
  return {
    id: shown.id,
    amount: toDollars(shown.amount),
    commissionAmount: shown.commissionAmount === null ? null : toDollars(shown.commissionAmount),
    tokenAmount: shown.tokenAmount,
    status: shown.status,
    sessionStatus: shown.sessionStatus,
    flow: payment.flow,
    paymentSystem: payment.flow === 'regulated' ? payment.processor : payment.network_family,
    blockchainId: shown.blockchainId,
    address: payment.address,
    transactionHash: shown.transactionHash,
    customerReferenceId: shown.customerReferenceId,
    note: payment.note,
    createdAt: shown.createdAt,
    expiresAt: shown.expiresAt,
    paidAt: shown.paidAt,
    branchId: payment.branch_id,
    branchName: payment.branch_name,
    merchantId: payment.merchant_id,
    merchantName: payment.merchant_name,
  };
}
