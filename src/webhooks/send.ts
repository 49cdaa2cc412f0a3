import { type buildConnector, Client, type Dispatcher } from 'undici';
import { RefusedAddress } from './guarded-connector.ts';
import { readRetryAfter } from './retry-after.ts';

/** Longest an attempt may take, from resolving the name to the last byte read, in milliseconds. */
export const ATTEMPT_TIMEOUT_MS = 15_000;
/** Bytes of an answer's body that are read and kept in the log of attempts. */
const EXCERPT_BYTES = 1024;
const USER_AGENT = 'External-Payments-Service-Webhooks/1';

export interface OutgoingWebhook {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** How one attempt ended; exactly one of `statusCode` and `error` is not null. */
export interface AttemptOutcome {
  readonly statusCode: number | null;
  /** Why there was no answer. */
  readonly error: string | null;
  /** Beginning of the answer's body. */
  readonly excerpt: string | null;
  /** How long the endpoint asks to be left alone, in milliseconds. */
  readonly retryAfterMs: number;
  readonly refused: RefusedAddress | null;
}

interface SendOptions {
  readonly connect: buildConnector.connector;
  readonly now: Date;
  /** Ends the attempt early. */
  readonly signal: AbortSignal;
  readonly timeoutMs?: number | undefined;
}

/**
 * Sends a webhook over a connection of its own, so that the address is checked each time. Redirects
 * are not followed. Whatever goes wrong on the way is an outcome.
 * @throws The signal's reason when it is aborted before an answer came.
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
    const refused = error instanceof RefusedAddress ? error : null;
    return { statusCode: null, error: reason, excerpt: null, retryAfterMs: 0, refused };
  } finally {
    // Also what is still to come of the body, and a connection that is only being made.
    client.destroy().catch(() => undefined);
  }
}

/** The status says how it went; a body that breaks off, or drips until the timeout, says no more. */
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
    // What has arrived is kept.
  }
  const bytes = Buffer.concat(chunks).subarray(0, EXCERPT_BYTES);
  // Streaming leaves out a character that the cut went through; PostgreSQL's text holds no NUL.
  return new TextDecoder().decode(bytes, { stream: true }).replaceAll('\0', '');
}

function firstOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

/** The system's or the parser's reason; one for each address tried is wrapped in an error. */
function describe(error: unknown): string {
  if (error instanceof AggregateError) return [...new Set(error.errors.map(describe))].join('; ');
  const text = error instanceof Error ? error.message || error.name : String(error);
  return text.replaceAll('\0', '').slice(0, EXCERPT_BYTES);
}
