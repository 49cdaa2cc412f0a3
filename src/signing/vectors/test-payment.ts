import type { PaymentSnapshot } from '#schemas/payment.ts';

/** The IDs of a test begin like this: valid UUIDs (version 8, RFC 9562) that no event or payment has. */
export const TEST_ID_PREFIX = '00000000-0000-8000-8000-';

const PAYMENT_ID = `${TEST_ID_PREFIX}000000000000`;
const HOUR_MS = 60 * 60 * 1000;

/** What a test event is about: a payment that does not exist. */
export function testPayment(now: Date): PaymentSnapshot {
  return {
    object: 'payment_prompt',
    id: PAYMENT_ID,
    amount: 5000,
    commissionAmount: null,
    commissionPayer: 'merchant',
    settlementModel: 'split',
    status: 'pending',
    sessionStatus: 'pending',
    blockchainId: null,
    tokenAmount: null,
    transactionHash: null,
    paidAt: null,
    expiresAt: new Date(now.getTime() + HOUR_MS).toISOString(),
    createdAt: now.toISOString(),
    redirectUrl: null,
    customerReferenceId: 'test',
    cancellationReason: null,
    lastError: null,
    externalId: null,
  };
}
