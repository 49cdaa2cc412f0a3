import { ERRORS, type ErrorCode } from '../../errors/catalogue.ts';
import {
  IDEMPOTENCY_KEY_MAXIMUM,
  IN_PROGRESS_RETRY_SECONDS,
  RESPONSE_LIFETIME_MS,
} from '../../payments/idempotency.ts';
import { block, code, duration, error, type Guide, table } from './guide.ts';

const RETRIED = (Object.keys(ERRORS) as ErrorCode[]).filter(errorCode => ERRORS[errorCode].retry);
const LIFETIME = duration(RESPONSE_LIFETIME_MS / 1000);

export const IDEMPOTENCY: Guide = {
  slug: 'idempotency',
  title: 'Idempotency and retries',
  description: 'How to repeat a request so that an order is never charged twice.',
  markdown: ({ rateLimitMax, rateLimitWindowSeconds }) => `## One key for each payment you mean

Send ${code('Idempotency-Key')} with every creation: 1 to ${IDEMPOTENCY_KEY_MAXIMUM} characters, for example the order's ID. Keep it over retries, restarts and machines.

${block('text', 'Idempotency-Key: order-1001')}

The key, the payment, its first event and the stored answer are written in one transaction. Whatever breaks, there is either all of it or nothing.

${table(
  ['you send', 'you get'],
  [
    [
      'the same key and the same bytes',
      `the stored answer again, for ${LIFETIME}, with ${code('Idempotent-Replayed: true')}`,
    ],
    ['the same key and other bytes, white space and key order included', `409 ${error('E4002')}`],
    [
      'the same key while the first request still runs, on any replica',
      `409 ${error('E4003')} with ${code(`Retry-After: ${IN_PROGRESS_RETRY_SECONDS}`)}`,
    ],
    ['a key that is blank, too long or sent twice', `400 ${error('E4001')}`],
    ['no key', 'a new payment each time'],
  ],
)}

Keys belong to the account, the method and the route, not to one API key: a second key of the same merchant finds the same answers.

## What is kept

- **A success** is kept for ${LIFETIME}.
- **A refusal (4xx)** is not: correct the input and use the same key.
- **A failure while executing** (${error('E5001')}, or ${error('E5002')} of a payment processor) is kept, after its work has been undone. Replayed, it says ${code('X-MP-Should-Retry: false')}: the same key will not execute any more.
- **${error('E5002')} before anything was executed** is not kept: the same key does once the service is available again.

## When to retry

${code('X-MP-Should-Retry')} is on every error. Only where it is ${code('true')} may another attempt succeed, and it has to be signed afresh with a new nonce and timestamp. These are the codes:

${table(
  ['error', 'HTTP', 'wait'],
  RETRIED.map(errorCode => [
    `${error(errorCode)} ${code(ERRORS[errorCode].code)}`,
    ERRORS[errorCode].status,
    errorCode === 'E9001' || errorCode === 'E4003'
      ? `the seconds of ${code('Retry-After')}`
      : errorCode === 'E2003'
        ? 'nothing: set the clock'
        : 'a second, then twice as long each time, with some randomness',
  ]),
)}

A connection that broke, or an answer that did not come in time, is like ${error('E5002')}: repeat the same bytes with the same key.

## When a creation stays uncertain

After a kept failure, find out before you use a new key:

1. List with ${code('customerReferenceId')} of the order: ${code('GET /external/v1/payments?customerReferenceId=order-1001')}.
2. If there is a payment, go on with it.
3. If there is none, create with a **new** idempotency key.

## Rate limit

${rateLimitMax} requests in ${duration(rateLimitWindowSeconds)} for each key and replica; above it ${error('E9001')} with ${code('Retry-After')}. Requests that fail authentication count against their address instead, so nobody can use up a key of which they only know the ID.`,
};
