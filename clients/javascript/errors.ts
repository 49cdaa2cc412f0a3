import { type ApiRequest, type ApiResponse, readRetryAfter } from './exchange.ts';

/**
 * The response is an error of the service, or an unexpected one of a proxy in front of it. Its `message` begins with
 * the error's code.
 */
export class PaymentsApiError extends Error {
  /** HTTP status. */
  readonly status: number;
  /** Category, e.g. `invalid_request_error`; empty when the response is not the service's own. */
  readonly type: string;
  /** Slug for programmatic handling, e.g. `parameter_invalid`; may be empty like `type`. */
  readonly code: string;
  /** Short code, e.g. `E1001`; may be empty like `type`. */
  readonly errorCode: string;
  /** The message without the code. */
  readonly detail: string;
  readonly param: string | undefined;
  /** Quote it when you contact support. */
  readonly requestId: string | undefined;
  readonly docUrl: string | undefined;
  /** Whether `detail` may be shown to your customers as it is. */
  readonly userSafeMessage: boolean;
  /** Whether another attempt may succeed, after the client has used all of its own. */
  readonly retryable: boolean;
  /** Seconds to wait before another attempt, if the response says so. */
  readonly retryAfterSeconds: number | undefined;

  /** @param message Used when the response has no message. */
  constructor(response: ApiResponse, message = `HTTP ${response.status}`) {
    const error = readError(response.body);
    const text = (name: string) => (typeof error[name] === 'string' ? error[name] : undefined);
    const errorCode = text('errorCode') ?? '';
    const detail = text('message') ?? message;
    super(errorCode === '' ? detail : `${errorCode}: ${detail}`);
    this.name = 'PaymentsApiError';
    this.status = response.status;
    this.type = text('type') ?? '';
    this.code = text('code') ?? '';
    this.errorCode = errorCode;
    this.detail = detail;
    this.param = text('param');
    this.requestId = text('requestId') ?? response.headers.get('x-request-id') ?? undefined;
    this.docUrl = text('docUrl');
    this.userSafeMessage = error.userSafeMessage === true;
    this.retryable = response.headers.get('x-mp-should-retry') === 'true';
    this.retryAfterSeconds = readRetryAfter(response.headers);
  }
}

/**
 * There was no response: the service could not be reached, was too slow, or the connection broke.
 *
 * It is unknown whether a creation took effect. Repeat it with the same idempotency key, or look the
 * payment up by its customerReferenceId, before you create it under another key.
 */
export class PaymentsConnectionError extends Error {
  /** Number of times that the request was sent. */
  readonly attempts: number;

  /** @param error What fetch rejected with. Its cause, which has the reason, becomes the `cause`. */
  constructor({ method, path }: ApiRequest, attempts: number, error: unknown) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    // Leaves out the query: it may contain references of customers.
    super(`${method} ${path.replace(/\?.*/s, '')} got no answer: ${describe(cause)}`, { cause });
    this.name = 'PaymentsConnectionError';
    this.attempts = attempts;
  }
}

/** Fields of the error envelope; empty for the response of a proxy, which may be anything. */
function readError(body: string): Readonly<Record<string, unknown>> {
  try {
    const { error } = JSON.parse(body);
    return typeof error === 'object' && error !== null ? error : {};
  } catch {
    return {};
  }
}

function describe(cause: unknown): string {
  const { message, code, name } = cause as NodeJS.ErrnoException;
  return message || code || name || String(cause);
}
