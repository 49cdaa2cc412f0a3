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
const OTHER_SECRET = secretOf('another example');
const TOLERANCE_SECONDS = 300;
const WEBHOOK_ID = '0196de5c-9d80-7a11-8f3a-5b6c7d8e9f00';

/** A genuine message, of which examples are made. */
interface ExampleMessage {
  readonly secret: string;
  readonly id: string;
  /** Unix seconds at which it was signed. */
  readonly timestamp: number;
  /** JSON of an event. */
  readonly body: string;
}

type Webhook = Partial<Omit<WebhookVector['given'], 'kind'>>;
type Row = readonly [name: string, mistake: string, webhook: Webhook, failure?: string];

/** Every example of a message: genuine ones, then invalid ones. */
export function webhookVectors(message: ExampleMessage): readonly WebhookVector[] {
  return [...genuine(message), ...invalid(message)].map(([name, mistake, webhook, failure]) => ({
    name,
    given: {
      kind: 'webhook',
      secrets: [message.secret],
      headers: headersOf(message),
      body: message.body,
      now: message.timestamp,
      toleranceSeconds: TOLERANCE_SECONDS,
      ...webhook,
    },
    expected: failure === undefined ? { valid: true } : { valid: false, failure },
    mistake,
  }));
}

export const WEBHOOK_VECTORS = webhookVectors({
  secret: secretOf('a worked example'),
  id: WEBHOOK_ID,
  timestamp: TIMESTAMP,
  body: `{"id":"${WEBHOOK_ID}","object":"event","type":"payment_prompt.successful"}`,
});

function headersOf(
  { secret, id, timestamp, body }: ExampleMessage,
  changes: Partial<WebhookMessage> = {},
  secrets = [secret],
): Record<string, string> {
  return webhookHeaders(secrets, { id, timestamp: String(timestamp), body, ...changes });
}

function genuine(message: ExampleMessage): Row[] {
  const { secret, timestamp } = message;
  const signed = headersOf(message);
  // Spelt as no serializer would: only the bytes themselves verify.
  const spelt = `${message.body.replace('{', '{ "note":"Gr\\u00fcße 😀",\n ')}\n`;
  return [
    [
      'a webhook',
      'refuses a genuine webhook: the key is the base64 after "whsec_", decoded, and the message is ID, timestamp and body with dots between them',
      {},
    ],
    [
      'a webhook whose body no serializer would write',
      'does not verify the bytes of the body as they were received',
      { body: spelt, headers: headersOf(message, { body: spelt }) },
    ],
    [
      'two signatures, as after a rotation of the secret',
      'looks at the first signature alone',
      { headers: headersOf(message, {}, [OTHER_SECRET, secret]) },
    ],
    [
      'two secrets of the receiver',
      'tries the first secret alone',
      { secrets: [OTHER_SECRET, secret] },
    ],
    [
      'a signature of another version before ours',
      'gives up at a signature of another version',
      { headers: { ...signed, 'webhook-signature': `v1a,AAAA ${signed['webhook-signature']}` } },
    ],
    [
      'names of headers in capitals',
      'depends on the case of the names of headers',
      {
        headers: Object.fromEntries(
          Object.entries(signed).map(([name, value]) => [name.toUpperCase(), value]),
        ),
      },
    ],
    [
      'as old as is allowed',
      'refuses a webhook as old as is allowed',
      { now: timestamp + TOLERANCE_SECONDS },
    ],
    [
      'as far ahead as is allowed',
      'refuses a webhook as far ahead as is allowed',
      { now: timestamp - TOLERANCE_SECONDS },
    ],
  ];
}

function invalid(message: ExampleMessage): Row[] {
  const { timestamp, body } = message;
  const signed = headersOf(message);
  const signature = signed['webhook-signature'] ?? '';
  const withSignature = (text: string) => ({ headers: { ...signed, 'webhook-signature': text } });
  return [
    [
      'a changed body',
      'accepts a body that was changed',
      { body: `${body} ` },
      'signature-mismatch',
    ],
    [
      'a signature by another secret',
      'accepts a signature by another secret',
      { headers: headersOf(message, {}, [OTHER_SECRET]) },
      'signature-mismatch',
    ],
    [
      'a changed ID',
      'accepts an ID that was changed',
      { headers: { ...signed, 'webhook-id': 'other' } },
      'signature-mismatch',
    ],
    [
      'a changed timestamp',
      'accepts a timestamp that was changed',
      { headers: { ...signed, 'webhook-timestamp': String(timestamp + 1) } },
      'signature-mismatch',
    ],
    [
      'an old webhook',
      'accepts a webhook that is too old, which anybody may send again',
      { now: timestamp + TOLERANCE_SECONDS + 1 },
      'timestamp-too-old',
    ],
    [
      'a webhook from the future',
      'accepts a webhook from the future, which stays good for long',
      { now: timestamp - TOLERANCE_SECONDS - 1 },
      'timestamp-too-new',
    ],
    [
      'a timestamp that is no whole number',
      'accepts a timestamp that is no whole number',
      { headers: headersOf(message, { timestamp: `${timestamp}.5` }) },
      'webhook-timestamp',
    ],
    ...Object.keys(signed).map((header): Row => {
      const headers = Object.fromEntries(
        Object.entries(signed).filter(([name]) => name !== header),
      );
      return [`no ${header}`, `accepts a webhook without ${header}`, { headers }, header];
    }),
    [
      'a signature of another version alone',
      'takes a signature of another version for one of v1',
      withSignature(signature.replace('v1,', 'v2,')),
      'webhook-signature',
    ],
    [
      'the beginning of a signature',
      'accepts the beginning of a signature',
      withSignature(signature.slice(0, 19)),
      'webhook-signature',
    ],
    ['an empty signature', 'accepts an empty signature', withSignature('v1,'), 'webhook-signature'],
  ];
}
