import { randomBytes } from 'node:crypto';
import * as http from 'node:http';
import * as https from 'node:https';
import { readWebhookSecret, SECRET_PREFIX, webhookHeaders } from '#signing/webhooks.ts';
import { CommandFailed } from '../terminal.ts';

/** As long as an endpoint's secret. */
const SECRET_BYTES = 32;
/** Timeout of an attempt, in milliseconds; the same as the service's. */
const TIMEOUT_MS = 15_000;
/** Bytes of a response's body that are shown. */
const EXCERPT_BYTES = 1024;
const USER_AGENT = 'external-payments-mp';

/** An event as a webhook carries it. */
interface SentEvent {
  readonly id: string;
  readonly type: string;
  /** The whole body. */
  readonly body: string;
}

/** The outcome of sending an event; exactly one of `statusCode` and `error` is not null. */
export interface Forwarded {
  readonly at: string;
  readonly eventId: string;
  readonly type: string;
  readonly statusCode: number | null;
  /** Why there was no response. */
  readonly error: string | null;
  /** Beginning of the response's body. */
  readonly responseExcerpt: string | null;
  readonly durationMs: number;
}

/** An event with the headers that its webhook has. */
export interface SignedEvent extends SentEvent {
  readonly headers: Readonly<Record<string, string>>;
}

/** Signs events as the service does. */
export interface WebhookSigner {
  readonly secret: string;
  /** Whether the secret was made for this process, so that it has to be printed. */
  readonly isNew: boolean;
  sign(event: SentEvent): SignedEvent;
}

/** Sends events to the developer's own server, signed as the service signs them. */
export interface Forwarder extends WebhookSigner {
  readonly url: string;
  /** @throws The signal's reason if it is aborted before a response. */
  send(event: SignedEvent, signal: AbortSignal): Promise<Forwarded>;
}

/**
 * @param given A secret to sign with; otherwise a new one is made, for this process only.
 * @throws CommandFailed for an invalid secret.
 */
export function createSigner(given: string | undefined): WebhookSigner {
  const secret = given || SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
  try {
    readWebhookSecret(secret);
  } catch {
    throw new CommandFailed(`WEBHOOK_SECRET must be ${SECRET_PREFIX} and base64.`);
  }
  return {
    secret,
    isNew: !given,
    sign(event) {
      const timestamp = String(Math.floor(Date.now() / 1000));
      return { ...event, headers: webhookHeaders([secret], { ...event, timestamp }) };
    },
  };
}

/**
 * @param given A secret to sign with; otherwise a new one is made, for this process only.
 * @throws CommandFailed for an invalid URL or secret.
 */
export function createForwarder(text: string, given: string | undefined): Forwarder {
  const url = parseReceiver(text);
  return {
    ...createSigner(given),
    url: url.href,
    async send({ id, type, headers, body }, signal) {
      const now = Date.now();
      const outcome = await post(url, headers, body, signal);
      const at = new Date(now).toISOString();
      return { at, eventId: id, type, ...outcome, durationMs: Date.now() - now };
    },
  };
}

/** @throws CommandFailed for what is no URL of a receiver. */
export function parseReceiver(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url?.username === '' && url.password === '' && url.hash === '';
  if (isPlain && /^https?:$/.test(url.protocol)) return url;
  throw new CommandFailed(
    'The URL is refused: it has to be http or https, without user and fragment, as http://localhost:8080/hooks is.',
  );
}

type Outcome = Pick<Forwarded, 'statusCode' | 'error' | 'responseExcerpt'>;

/** Posts JSON. Does not use fetch, which refuses some ports. Does not follow redirects. */
export async function post(
  url: URL,
  headers: Readonly<Record<string, string>>,
  body: string,
  signal: AbortSignal,
): Promise<Outcome> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const request = (url.protocol === 'https:' ? https : http).request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': USER_AGENT, ...headers },
      agent: false,
      signal: AbortSignal.any([signal, timeout]),
    });
    const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
      request.on('response', resolve).on('error', reject).end(body);
    });
    const responseExcerpt = await readExcerpt(response);
    return { statusCode: response.statusCode ?? null, error: null, responseExcerpt };
  } catch (error) {
    if (signal.aborted) throw error;
    const reason = timeout.aborted ? `no answer within ${TIMEOUT_MS / 1000} s` : describe(error);
    return { statusCode: null, error: reason, responseExcerpt: null };
  }
}

/** Never fails: the status decides, even if the body breaks off or is too slow. */
async function readExcerpt(response: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of response) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= EXCERPT_BYTES) break;
    }
  } catch {
    // Keep what has arrived.
  }
  const bytes = Buffer.concat(chunks).subarray(0, EXCERPT_BYTES);
  // `stream` drops a truncated last character.
  return new TextDecoder().decode(bytes, { stream: true });
}

/** The error's message; if several addresses were tried, the distinct messages of all. */
function describe(error: unknown): string {
  if (error instanceof AggregateError) return [...new Set(error.errors.map(describe))].join('; ');
  return error instanceof Error ? error.message || error.name : String(error);
}
