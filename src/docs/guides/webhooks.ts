import { EVENT_TYPES } from '#schemas/event.ts';
import { TOLERANCE_SECONDS } from '../../client/verify-webhook.ts';
import { ENDPOINTS_MAXIMUM, SECRET_GRACE_MS } from '../../webhooks/manage-endpoints.ts';
import { RETRY_AFTER_MAXIMUM_MS } from '../../webhooks/retry-after.ts';
import { JITTER, RETRY_DELAYS_SECONDS } from '../../webhooks/retry-schedule.ts';
import { ATTEMPT_TIMEOUT_MS } from '../../webhooks/send.ts';
import { SECRET_PREFIX } from '../../webhooks/signature.ts';
import { EVENT_EXAMPLE, meaningOf } from '../openapi/webhooks.ts';
import { block, code, duration, type Guide, json, table } from './guide.ts';
import { VECTOR_SECRET, WEBHOOK_VECTOR } from './webhook-vector.ts';

const PYTHON = `import base64, hashlib, hmac, time

def verify(secret, headers, body):
    """body: the bytes as they were received; headers: with names in lower case."""
    if abs(time.time() - int(headers["webhook-timestamp"])) > ${TOLERANCE_SECONDS}:
        raise ValueError("too old, or from the future")
    key = base64.b64decode(secret.removeprefix("${SECRET_PREFIX}"))
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    signatures = headers["webhook-signature"].split(" ")
    if not any(hmac.compare_digest(expected, signature) for signature in signatures):
        raise ValueError("no signature matches")`;

const TYPESCRIPT = `import { verifyWebhook } from 'external-payments-service/client';

const event = verifyWebhook({ body: rawBody, headers: request.headers, secret: process.env.WEBHOOK_SECRET });`;

export const WEBHOOKS: Guide = {
  slug: 'webhooks',
  title: 'Webhooks',
  description: 'Be told of every change of a payment, and know that it was us who told you.',
  markdown: () => `## Events

${table(
  ['type', 'tells'],
  EVENT_TYPES.map(type => [code(type), meaningOf(type)]),
)}

The body is an envelope with the payment as it was at that moment: the fields of the payment object and ${code('externalId')}, the reference of a regulated processor, which is ${code('null')} on chain.

${json(EVENT_EXAMPLE)}

Events are recorded with the change they tell, so none is lost and none is told of what did not happen. They are delivered **at least once** and **in no guaranteed order**: remember ${code('webhook-id')} to act once, and read the payment when the order matters.

## Having an endpoint

An operator adds it for you, with all types of events or some, at most ${ENDPOINTS_MAXIMUM} for a merchant:

${block(
  'sh',
  `npx mp webhook create --merchant ID --url https://shop.example.com/hooks
npx mp webhook create --merchant ID --url https://shop.example.com/paid --types payment_prompt.successful`,
)}

The secret, ${code(SECRET_PREFIX)} and base64, is shown this once. In production the URL is https, and private, loopback and link-local addresses are never connected to.

## Verifying

Webhooks follow the [Standard Webhooks](https://www.standardwebhooks.com) specification; any of its libraries verifies them. Three headers come with each:

${table(
  ['header', 'content'],
  [
    [code('webhook-id'), "the event's ID, the same in every delivery of it"],
    [code('webhook-timestamp'), 'Unix time in seconds at which this attempt was signed'],
    [
      code('webhook-signature'),
      `${code('v1,')} and base64 of HMAC-SHA256 over ${code('id.timestamp.body')}; two of them, separated by a space, for ${duration(SECRET_GRACE_MS / 1000)} after the secret was rotated`,
    ],
  ],
)}

The HMAC key is what the base64 after ${code(SECRET_PREFIX)} decodes to. Verify the bytes as they were received, before they are parsed, and refuse a timestamp more than ${duration(TOLERANCE_SECONDS)} away.

With the client:

${block('ts', TYPESCRIPT)}

In Python:

${block('python', PYTHON)}

A worked example, signed for this page by the function that signs webhooks:

${table(
  ['part', 'value'],
  [
    ['secret', code(VECTOR_SECRET)],
    ['body', code(WEBHOOK_VECTOR.body)],
    ...Object.entries(WEBHOOK_VECTOR.headers).map(([name, value]) => [code(name), code(value)]),
  ],
)}

## Answering

Answer any 2xx within ${duration(ATTEMPT_TIMEOUT_MS / 1000)}, before you begin to work on it. Everything else is tried again, ${RETRY_DELAYS_SECONDS.length} times in all:

${table(
  ['attempt', 'after the one before'],
  RETRY_DELAYS_SECONDS.map((seconds, index) => [
    index + 1,
    seconds === 0 ? 'at once' : duration(seconds),
  ]),
)}

Each wait varies by ${100 * JITTER} % either way. ${code('Retry-After')} is honoured, up to ${duration(RETRY_AFTER_MAXIMUM_MS / 1000)}. Redirects are not followed. **410** switches the endpoint off for good.

Every attempt is logged with its status and the beginning of your answer, and any delivery can be sent again by hand:

${block(
  'sh',
  `npx mp webhook deliveries ENDPOINT
npx mp webhook redeliver DELIVERY
npx mp webhook rotate ENDPOINT`,
)}`,
};
