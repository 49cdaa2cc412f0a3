export interface ApiRequest {
  readonly method: 'GET' | 'POST';
  /** Path with its query, e.g. `/external/v1/payments?limit=5`; encoded where necessary. */
  readonly path: string;
  /** JSON text, sent unchanged. */
  readonly body?: string | undefined;
  readonly idempotencyKey?: string | undefined;
}

export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** Retry-After in seconds. Undefined when it is missing or a date, which the service never sends. */
export function readRetryAfter(headers: Headers): number | undefined {
  const seconds = headers.get('retry-after');
  return seconds !== null && /^\d{1,9}$/.test(seconds) ? Number(seconds) : undefined;
}
