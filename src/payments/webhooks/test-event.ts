import { randomHex } from '#crypto/random-hex.ts';
import { TEST_ID_PREFIX, testPayment } from '#signing/vectors/test-payment.ts';
import type { OutgoingEvent } from '#storage/repositories/payments/events.ts';

/** Bytes of a UUID after its last hyphen. */
const NODE_BYTES = 6;

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
