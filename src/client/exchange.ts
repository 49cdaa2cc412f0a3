export interface ApiRequest {
  readonly method: 'GET' | 'POST';
  /** Path with its query, e.g. `/external/v1/payments?limit=5`; what needs encoding is encoded. */
  readonly path: string;
  /** JSON text, sent as it is. */
  readonly body?: string | undefined;
  readonly idempotencyKey?: string | undefined;
}

export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** The seconds of Retry-After; undefined without one, and for a date, which only proxies send. */
export function readRetryAfter(headers: Headers): number | undefined {
  const seconds = headers.get('retry-after');
  return seconds !== null && /^\d{1,9}$/.test(seconds) ? Number(seconds) : undefined;
}
