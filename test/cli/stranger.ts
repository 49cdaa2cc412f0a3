import { createHash, createHmac } from 'node:crypto';
import { text } from 'node:stream/consumers';
import type { RequestVector, WebhookVector } from '#signing/vectors/index.ts';

/**
 * An implementation of signatures by somebody who knows only the guides, with one mistake at a time. As a
 * program it is a command for `mp conformance`, and its argument is the mistake.
 */

type Request = RequestVector['given'];
type Webhook = WebhookVector['given'];

/** Mistakes in requests, as overrides of the right values. */
export const REQUEST_MISTAKES = {
  'the timestamp in milliseconds': { timestamp: ({ timestamp }) => `${timestamp}000` },
  'the path without its query': { path: ({ path }) => path.replace(/\?.*/, '') },
  'the query in alphabetical order': { path: ({ path }) => sortQuery(path) },
  'host and path in place of the path': { path: ({ host, path }) => host + path },
  'the host among the parts': {
    joined: ([timestamp, nonce, ...parts], { host }) =>
      [timestamp, nonce, host, ...parts].join('\n'),
  },
  'the key ID among the parts': { joined: (parts, { keyId }) => [keyId, ...parts].join('\n') },
  'the query with its percent signs decoded': { path: ({ path }) => decodeURIComponent(path) },
  'the query decoded': { path: ({ path }) => decodeURIComponent(path.replaceAll('+', ' ')) },
  'the body serialized anew without blanks, as by JSON.stringify': {
    body: ({ body }) => (body === '' ? '' : JSON.stringify(JSON.parse(body))),
  },
  'the body in Latin-1 in place of UTF-8': { encoding: 'latin1' },
  'no line feed after the path': {
    joined: parts => parts.filter(part => part !== '').join('\n'),
  },
  'the method "post"': { method: ({ method }) => method.toLowerCase() },
  'the secret without its "mps_"': { key: ({ secret }) => secret.slice(4) },
  'base64 in place of lowercase hex': { form: 'base64' },
  'a plain hash over secret and canonical request in place of an HMAC': { isPlain: true },
} as const satisfies Record<string, Partial<Signing>>;

interface Signing {
  readonly timestamp: (given: Request) => string;
  readonly method: (given: Request) => string;
  readonly path: (given: Request) => string;
  readonly body: (given: Request) => string;
  readonly joined: (parts: readonly string[], given: Request) => string;
  readonly key: (given: Request) => string;
  readonly encoding: 'utf8' | 'latin1';
  readonly form: 'hex' | 'base64';
  readonly isPlain: boolean;
}

const RIGHT: Signing = {
  timestamp: ({ timestamp }) => String(timestamp),
  method: ({ method }) => method,
  path: ({ path }) => path,
  body: ({ body }) => body,
  joined: parts => parts.join('\n'),
  key: ({ secret }) => secret,
  encoding: 'utf8',
  form: 'hex',
  isPlain: false,
};

/** Mistakes in webhooks, as overrides, by the sentence that names them. */
export const WEBHOOK_MISTAKES = {
  'accepts a webhook that is too old, which anybody may send again': { toleranceSeconds: 1e9 },
  'looks at the first signature alone': { signatures: 1 },
  'tries the first secret alone': { secrets: 1 },
  'refuses a genuine webhook': { readKey: secret => Buffer.from(secret) },
  'does not verify the bytes of the body as they were received': {
    read: body => JSON.stringify(JSON.parse(body)),
  },
  'accepts the beginning of a signature': {
    isSame: (expected, given) => given.length > 3 && expected.startsWith(given),
  },
  'depends on the case of the names of headers': { headerOf: (headers, name) => headers[name] },
} as const satisfies Record<string, Partial<Verifying>>;

interface Verifying {
  readonly toleranceSeconds: number | undefined;
  readonly signatures: number;
  readonly secrets: number;
  readonly readKey: (secret: string) => Buffer;
  readonly read: (body: string) => string;
  readonly isSame: (expected: string, given: string) => boolean;
  readonly headerOf: (headers: Webhook['headers'], name: string) => string | undefined;
}

const CAREFUL: Verifying = {
  toleranceSeconds: undefined,
  signatures: Number.POSITIVE_INFINITY,
  secrets: Number.POSITIVE_INFINITY,
  readKey: secret => Buffer.from(secret.slice('whsec_'.length), 'base64'),
  read: body => body,
  isSame: (expected, given) => expected === given,
  headerOf: (headers, wanted) => {
    return Object.entries(headers).find(([name]) => name.toLowerCase() === wanted)?.[1];
  },
};

export type Mistake = keyof typeof REQUEST_MISTAKES | keyof typeof WEBHOOK_MISTAKES;

/** The document that the command prints. */
export function answerStrangely(given: Request | Webhook, mistake?: string): object {
  const find = <T>(mistakes: Readonly<Record<string, Partial<T>>>) =>
    mistake === undefined ? {} : (mistakes[mistake] ?? {});
  return given.kind === 'request'
    ? { headers: sign(given, { ...RIGHT, ...find<Signing>(REQUEST_MISTAKES) }) }
    : { valid: isValid(given, { ...CAREFUL, ...find<Verifying>(WEBHOOK_MISTAKES) }) };
}

function sign(given: Request, how: Signing): Record<string, string> {
  const timestamp = how.timestamp(given);
  const parts = [timestamp, given.nonce, how.method(given), how.path(given), how.body(given)];
  const canonical = Buffer.from(how.joined(parts, given), how.encoding);
  const key = how.key(given);
  const digest = how.isPlain
    ? createHash('sha256').update(key).update(canonical)
    : createHmac('sha256', key).update(canonical);
  return {
    'X-MP-KEY-ID': given.keyId,
    'X-MP-PASSPHRASE': given.passphrase,
    'X-MP-TIMESTAMP': timestamp,
    'X-MP-NONCE': given.nonce,
    'X-MP-SIGNATURE': digest.digest(how.form),
  };
}

function isValid({ secrets, headers, body, now, toleranceSeconds }: Webhook, how: Verifying) {
  const id = how.headerOf(headers, 'webhook-id');
  const timestamp = how.headerOf(headers, 'webhook-timestamp') ?? '';
  const signatures = how.headerOf(headers, 'webhook-signature')?.split(' ') ?? [];
  const age = Math.abs(now - Number(timestamp));
  if (id === undefined || !/^\d+$/.test(timestamp)) return false;
  if (age > (how.toleranceSeconds ?? toleranceSeconds)) return false;
  const message = `${id}.${timestamp}.${how.read(body)}`;
  return secrets.slice(0, how.secrets).some(secret => {
    const digest = createHmac('sha256', how.readKey(secret)).update(message).digest('base64');
    return signatures.slice(0, how.signatures).some(given => how.isSame(`v1,${digest}`, given));
  });
}

function sortQuery(path: string): string {
  const [head, query] = path.split('?');
  return query === undefined ? path : `${head}?${query.split('&').toSorted().join('&')}`;
}

if (import.meta.main) {
  const [, , mistake] = process.argv;
  const document = answerStrangely(JSON.parse(await text(process.stdin)), mistake);
  process.stdout.write(JSON.stringify(document));
}
