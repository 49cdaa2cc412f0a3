import { type buildConnector, Client, type Dispatcher } from 'undici';
import { maskSecrets } from '#crypto/mask-secrets.ts';
import { RefusedAddress } from '#outbound/guarded-connector.ts';
import { readRetryAfter } from '#outbound/retry-after.ts';

/** Timeout of an attempt, from resolving the name to the last byte read, in milliseconds. */
export const ATTEMPT_TIMEOUT_MS = 15_000;
/** Bytes of a response's body that are read and stored with the attempt. */
const EXCERPT_BYTES = 1024;
const USER_AGENT = 'External-Payments-Service-Webhooks/1';

export interface OutgoingWebhook {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Result of one attempt; exactly one of `statusCode` and `error` is not null. */
export interface AttemptOutcome {
  readonly statusCode: number | null;
  /** Why there was no response. */
  readonly error: string | null;
  /** Beginning of the response's body. */
  readonly excerpt: string | null;
  /** Minimum delay before the next attempt requested by the endpoint, in milliseconds. */
  readonly retryAfterMs: number;
  /** The error, if no address of the host is allowed. */
  readonly refused: RefusedAddress | null;
}

interface SendOptions {
  readonly connect: buildConnector.connector;
  readonly now: Date;
  /** Cancels the attempt. */
  readonly signal: AbortSignal;
  readonly timeoutMs?: number | undefined;
}

/**
 * Sends a webhook over a new connection, so that the address is checked each time. Does not follow
 * redirects. Reports failures in the outcome.
 * @throws The signal's reason if it is aborted before a response.
 */
export async function sendWebhook(
  { url, headers, body }: OutgoingWebhook,
  { connect, now, signal, timeoutMs = ATTEMPT_TIMEOUT_MS }: SendOptions,
): Promise<AttemptOutcome> {
  const { origin, pathname, search } = new URL(url);
  const timeout = AbortSignal.timeout(timeoutMs);
  const client = new Client(origin, { connect, headersTimeout: 0, bodyTimeout: 0 });
  try {
    const response = await client.request({
      method: 'POST',
      path: pathname + search,
      headers: { 'content-type': 'application/json', 'user-agent': USER_AGENT, ...headers },
      body,
      signal: AbortSignal.any([signal, timeout]),
      reset: true,
    });
    return {
      statusCode: response.statusCode,
      error: null,
      excerpt: await readExcerpt(response.body),
      retryAfterMs: readRetryAfter(firstOf(response.headers['retry-after']), now),
      refused: null,
    };
  } catch (error) {
    if (signal.aborted) throw error;
    const reason = timeout.aborted ? `no answer within ${timeoutMs / 1000} s` : describe(error);
    return noResponse(reason, error instanceof RefusedAddress ? error : null);
  } finally {
    // Also drops the rest of the body, or a connection that is still being opened.
    client.destroy().catch(() => undefined);
  }
}

/** The outcome of an attempt without a response. */
export function noResponse(error: string, refused: RefusedAddress | null = null): AttemptOutcome {
  return { statusCode: null, error, excerpt: null, retryAfterMs: 0, refused };
}

/** Never fails: the status decides the attempt, even if the body breaks off or is too slow. */
async function readExcerpt(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= EXCERPT_BYTES) break;
    }
  } catch {
    // Keep what has arrived.
  }
  const bytes = Buffer.concat(chunks).subarray(0, EXCERPT_BYTES);
  // `stream` drops a truncated last character; PostgreSQL's text cannot contain NUL.
  const text = new TextDecoder().decode(bytes, { stream: true }).replaceAll('\0', '');
  // A server's error page may list its variables.
  return maskSecrets(text);
}

function firstOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

/** The error's message; if several addresses were tried, the distinct messages of all. */
function describe(error: unknown): string {
  if (error instanceof AggregateError) return [...new Set(error.errors.map(describe))].join('; ');
  const text = error instanceof Error ? error.message || error.name : String(error);
  return text.replaceAll('\0', '').slice(0, EXCERPT_BYTES);
}
