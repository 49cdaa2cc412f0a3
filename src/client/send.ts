import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiRequest, type ApiResponse, readRetryAfter } from './exchange.ts';
import { PaymentsConnectionError } from './payments-connection-error.ts';
import type { ServiceAddress } from './service-address.ts';
import { type Credentials, signingHeaders } from './sign.ts';

export interface Transport {
  readonly service: ServiceAddress;
  readonly credentials: Credentials;
  /** Longest one attempt may take, in milliseconds. */
  readonly timeoutMs: number;
  /** Attempts of one call, the first included. */
  readonly maxAttempts: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Waits for some milliseconds. */
  readonly sleep: (milliseconds: number) => Promise<unknown>;
}

export const TRANSPORT_DEFAULTS = {
  timeoutMs: 30_000,
  maxAttempts: 4,
  now: Date.now,
  sleep: (milliseconds: number) => sleep(milliseconds),
} as const;

const BACKOFF_FIRST_MS = 500;
const BACKOFF_MAXIMUM_MS = 8_000;
/** Longest Retry-After that is waited for, in seconds: the rate limit's usual window. */
const RETRY_AFTER_MAXIMUM_SECONDS = 60;
/** What proxies answer with, without our header, when the service behind them cannot be reached. */
const PROXY_FAILURES = [429, 502, 503, 504];

/**
 * Sends a request until it is answered for good, each time with a fresh nonce, timestamp and
 * signature and with the same idempotency key.
 *
 * Nothing is sent again that might execute twice. A refusal (4xx) has executed nothing and is tried
 * again when X-MP-Should-Retry is `true`. A failure (5xx) or no answer at all is tried again only
 * for reads and for writes with an idempotency key. Retry-After is waited for up to a minute; an
 * answer that asks for more is returned instead.
 *
 * @returns The last answer, whatever its status.
 * @throws PaymentsConnectionError when the last attempt got no answer.
 */
export async function send(transport: Transport, request: ApiRequest): Promise<ApiResponse> {
  const repeatable = request.method === 'GET' || request.idempotencyKey !== undefined;
  for (let attempt = 1; ; attempt++) {
    const last = attempt >= transport.maxAttempts;
    const [url, init] = prepare(transport, request);
    let response: ApiResponse | undefined;
    try {
      response = await exchange(url, init);
    } catch (error) {
      if (last || !repeatable) throw new PaymentsConnectionError(request, attempt, error);
    }
    if (response === undefined) {
      await transport.sleep(backoffMs(attempt));
      continue;
    }
    const retryAfter = readRetryAfter(response.headers);
    const tooLong = retryAfter !== undefined && retryAfter > RETRY_AFTER_MAXIMUM_SECONDS;
    if (last || tooLong || !mayRetry(response, repeatable)) return response;
    await transport.sleep(retryAfter === undefined ? backoffMs(attempt) : retryAfter * 1000);
  }
}

/** Signs what fetch will send, which is not always what was given: it encodes what needs it. */
function prepare(
  { service, credentials, timeoutMs, now }: Transport,
  { method, path, body, idempotencyKey }: ApiRequest,
): [URL, RequestInit] {
  const { url, signedPath } = service.locate(path);
  const headers = new Headers({
    ...signingHeaders(credentials, { method, path: signedPath, body, now: now() }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
  });
  // A signed request is never sent on to wherever a redirect points.
  const init: RequestInit = {
    method,
    headers,
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutMs),
  };
  return [url, body === undefined ? init : { ...init, body }];
}

async function exchange(url: URL, init: RequestInit): Promise<ApiResponse> {
  const response = await fetch(url, init);
  return { status: response.status, headers: response.headers, body: await response.text() };
}

function mayRetry({ status, headers }: ApiResponse, repeatable: boolean): boolean {
  const verdict = headers.get('x-mp-should-retry');
  if (verdict === null) return repeatable && PROXY_FAILURES.includes(status);
  return verdict === 'true' && (repeatable || status < 500);
}

/** Doubles with every attempt; half of it is random, so that clients do not come back together. */
function backoffMs(attempt: number): number {
  const full = Math.min(BACKOFF_FIRST_MS * 2 ** (attempt - 1), BACKOFF_MAXIMUM_MS);
  return full / 2 + Math.random() * (full / 2);
}
