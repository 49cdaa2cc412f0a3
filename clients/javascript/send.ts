import { setTimeout as sleep } from 'node:timers/promises';
import { PaymentsConnectionError } from './errors.ts';
import { type ApiRequest, type ApiResponse, readRetryAfter } from './exchange.ts';
import type { ServiceAddress } from './service-address.ts';
import { type Credentials, signingHeaders } from './sign.ts';

export interface Transport {
  readonly service: ServiceAddress;
  readonly credentials: Credentials;
  /** Timeout of one attempt, in milliseconds. */
  readonly timeoutMs: number;
  /** Maximum attempts per call, the first included. */
  readonly maxAttempts: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
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
/** Longest Retry-After that the client waits for, in seconds: the rate limit's default window. */
const RETRY_AFTER_MAXIMUM_SECONDS = 60;
/** Statuses of a proxy that cannot reach the service. Its responses have no X-MP-Should-Retry. */
const PROXY_FAILURES = [429, 502, 503, 504];

/**
 * Sends a request, with retries. Each attempt has a new nonce, timestamp and signature, and the same
 * idempotency key.
 *
 * A request that might execute twice is never repeated. A refusal (4xx) has executed nothing and is
 * retried when X-MP-Should-Retry is `true`. A failure (5xx) or a missing response is retried only for
 * reads and for writes with an idempotency key. The client waits for a Retry-After of up to
 * RETRY_AFTER_MAXIMUM_SECONDS; a response that asks for more is returned.
 *
 * @returns The last response, of any status.
 * @throws PaymentsConnectionError when the last attempt got no response.
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

/** Signs the path as fetch sends it, which may be encoded differently from the path given. */
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
  // A signed request must not follow a redirect to another server.
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
  const shouldRetry = headers.get('x-mp-should-retry');
  if (shouldRetry === null) return repeatable && PROXY_FAILURES.includes(status);
  return shouldRetry === 'true' && (repeatable || status < 500);
}

/** Exponential backoff. Half of it is random, so that clients do not retry at the same time. */
function backoffMs(attempt: number): number {
  const full = Math.min(BACKOFF_FIRST_MS * 2 ** (attempt - 1), BACKOFF_MAXIMUM_MS);
  return full / 2 + Math.random() * (full / 2);
}
