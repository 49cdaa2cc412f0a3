import { createHash } from 'node:crypto';
import { SECRET_PREFIX, type WebhookMessage, webhookHeaders } from '../webhooks.ts';

/** A webhook, and whether it is genuine. */
export interface WebhookVector {
  readonly name: string;
  readonly given: {
    readonly kind: 'webhook';
    /** The receiver's secrets, of which one has to match. */
    readonly secrets: readonly string[];
    readonly headers: Readonly<Record<string, string>>;
    /** Received as UTF-8. */
    readonly body: string;
    /** The receiver's time, in Unix seconds. */
    readonly now: number;
    readonly toleranceSeconds: number;
  };
  readonly expected: {
    readonly valid: boolean;
    /** What is invalid, in the libraries' name for it. */
    readonly failure?: string;
  };
  /** What an implementation that gets it wrong does. */
  readonly mistake: string;
}

// 2026-05-17T12:00:00Z
const TIMESTAMP = 1_779_019_200;
const secretOf = (name: string) =>
  SECRET_PREFIX + createHash('sha256').update(name).digest('base64');
const SECRET = secretOf('a worked example');
const OTHER_SECRET = secretOf('another example');
const TOLERANCE_SECONDS = 300;
const WEBHOOK_ID = '0196de5c-9d80-7a11-8f3a-5b6c7d8e9f00';
const MESSAGE: WebhookMessage = {
  id: WEBHOOK_ID,
  timestamp: String(TIMESTAMP),
  body: `{"id":"${WEBHOOK_ID}","object":"event","type":"payment_prompt.successful"}`,
};
/** Spelt as no serializer would: only the bytes themselves verify. */
const SPELT = `{ "id":"${WEBHOOK_ID}",\n "note":"Gr\\u00fc\u00dfe 😀" }\n`;

const headersOf = (message: Partial<WebhookMessage>, ...secrets: string[]) =>
  webhookHeaders(secrets.length === 0 ? [SECRET] : secrets, { ...MESSAGE, ...message });
const SIGNED = headersOf({});
const SIGNATURE = SIGNED['webhook-signature'] ?? '';

type Webhook = Omit<WebhookVector['given'], 'kind'>;

function webhookVector(
  name: string,
  mistake: string,
  webhook: Partial<Webhook>,
  failure?: string,
): WebhookVector {
  const given = {
    kind: 'webhook' as const,
    secrets: [SECRET],
    headers: SIGNED,
    body: String(MESSAGE.body),
    now: TIMESTAMP,
    toleranceSeconds: TOLERANCE_SECONDS,
    ...webhook,
  };
  const expected = failure === undefined ? { valid: true } : { valid: false, failure };
  return { name, given, expected, mistake };
}

function without(header: string): Record<string, string> {
  return Object.fromEntries(Object.entries(SIGNED).filter(([name]) => name !== header));
}

const GENUINE: readonly WebhookVector[] = [
  webhookVector(
    'a webhook',
    'refuses a genuine webhook: the key is the base64 after "whsec_", decoded, and the message is ID, timestamp and body with dots between them',
    {},
  ),
  webhookVector(
    'a webhook whose body no serializer would write',
    'does not verify the bytes of the body as they were received',
    { body: SPELT, headers: headersOf({ body: SPELT }) },
  ),
  webhookVector(
    'two signatures, as after a rotation of the secret',
    'looks at the first signature alone',
    { headers: headersOf({}, OTHER_SECRET, SECRET) },
  ),
  webhookVector('two secrets of the receiver', 'tries the first secret alone', {
    secrets: [OTHER_SECRET, SECRET],
  }),
  webhookVector(
    'a signature of another version before ours',
    'gives up at a signature of another version',
    { headers: { ...SIGNED, 'webhook-signature': `v1a,AAAA ${SIGNATURE}` } },
  ),
  webhookVector('names of headers in capitals', 'depends on the case of the names of headers', {
    headers: Object.fromEntries(
      Object.entries(SIGNED).map(([name, value]) => [name.toUpperCase(), value]),
    ),
  }),
  webhookVector('as old as is allowed', 'refuses a webhook as old as is allowed', {
    now: TIMESTAMP + TOLERANCE_SECONDS,
  }),
  webhookVector('as far ahead as is allowed', 'refuses a webhook as far ahead as is allowed', {
    now: TIMESTAMP - TOLERANCE_SECONDS,
  }),
];

const INVALID: readonly WebhookVector[] = [
  webhookVector(
    'a changed body',
    'accepts a body that was changed',
    { body: `${MESSAGE.body} ` },
    'signature-mismatch',
  ),
  webhookVector(
    'a signature by another secret',
    'accepts a signature by another secret',
    { headers: headersOf({}, OTHER_SECRET) },
    'signature-mismatch',
  ),
  webhookVector(
    'a changed ID',
    'accepts an ID that was changed',
    { headers: { ...SIGNED, 'webhook-id': 'other' } },
    'signature-mismatch',
  ),
  webhookVector(
    'a changed timestamp',
    'accepts a timestamp that was changed',
    { headers: { ...SIGNED, 'webhook-timestamp': String(TIMESTAMP + 1) } },
    'signature-mismatch',
  ),
  webhookVector(
    'an old webhook',
    'accepts a webhook that is too old, which anybody may send again',
    { now: TIMESTAMP + TOLERANCE_SECONDS + 1 },
    'timestamp-too-old',
  ),
  webhookVector(
    'a webhook from the future',
    'accepts a webhook from the future, which stays good for long',
    { now: TIMESTAMP - TOLERANCE_SECONDS - 1 },
    'timestamp-too-new',
  ),
  webhookVector(
    'a timestamp that is no whole number',
    'accepts a timestamp that is no whole number',
    { headers: headersOf({ timestamp: `${TIMESTAMP}.5` }) },
    'webhook-timestamp',
  ),
  ...Object.keys(SIGNED).map(header =>
    webhookVector(
      `no ${header}`,
      `accepts a webhook without ${header}`,
      { headers: without(header) },
      header,
    ),
  ),
  webhookVector(
    'a signature of another version alone',
    'takes a signature of another version for one of v1',
    { headers: { ...SIGNED, 'webhook-signature': SIGNATURE.replace('v1,', 'v2,') } },
    'webhook-signature',
  ),
  webhookVector(
    'the beginning of a signature',
    'accepts the beginning of a signature',
    { headers: { ...SIGNED, 'webhook-signature': SIGNATURE.slice(0, 19) } },
    'webhook-signature',
  ),
  webhookVector(
    'an empty signature',
    'accepts an empty signature',
    { headers: { ...SIGNED, 'webhook-signature': 'v1,' } },
    'webhook-signature',
  ),
];

export const WEBHOOK_VECTORS: readonly WebhookVector[] = [...GENUINE, ...INVALID];
