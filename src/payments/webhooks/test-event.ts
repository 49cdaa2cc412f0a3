import { randomHex } from '#crypto/random-hex.ts';
import type { PaymentSnapshot } from '#schemas/payment.ts';
import type { OutgoingEvent } from '#storage/repositories/payments/events.ts';

/** The IDs of a test begin like this: valid UUIDs (version 8, RFC 9562) that no event or payment has. */
export const TEST_ID_PREFIX = '00000000-0000-8000-8000-';

const PAYMENT_ID = `${TEST_ID_PREFIX}000000000000`;
/** Bytes of a UUID after its last hyphen. */
const NODE_BYTES = 6;
const HOUR_MS = 60 * 60 * 1000;

/** The creation of a payment that does not exist, for trying an endpoint. */
export function testEvent(now: Date): OutgoingEvent {
  return {
    // A new ID each time: receivers would take the same one for a repetition.
    id: randomHex(TEST_ID_PREFIX, NODE_BYTES),
    type: 'payment_prompt.created',
    createdAt: now,
    data: JSON.stringify(testPayment(now)),
    traceparent: null,
    tracestate: null,
  };
}

function testPayment(now: Date): PaymentSnapshot {
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
