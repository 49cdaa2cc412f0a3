import { type ApiResponse, readRetryAfter } from './exchange.ts';

/**
 * An answer that is not what was asked for: a refusal or a failure of the service, or something that
 * a proxy in between answered with.
 */
export class PaymentsApiError extends Error {
  /** HTTP status. */
  readonly status: number;
  /** Category, e.g. `invalid_request_error`; empty when the answer was not the service's own. */
  readonly type: string;
  /** Slug for programmatic handling, e.g. `parameter_invalid`; empty likewise. */
  readonly code: string;
  /** Short code, e.g. `E1001`; empty likewise. */
  readonly errorCode: string;
  readonly param: string | undefined;
  /** Name it when you ask for support. */
  readonly requestId: string | undefined;
  readonly docUrl: string | undefined;
  /** Whether `message` may be shown to your customers as it is. */
  readonly userSafeMessage: boolean;
  /** Whether another attempt may succeed; the client has used up its own attempts. */
  readonly retryable: boolean;
  /** Seconds to wait before it, where the answer says so. */
  readonly retryAfterSeconds: number | undefined;

  /** @param message Stands in where the answer has no message of its own. */
  constructor(response: ApiResponse, message = `HTTP ${response.status}`) {
    const error = readError(response.body);
    const text = (name: string) => (typeof error[name] === 'string' ? error[name] : undefined);
    super(text('message') ?? message);
    this.name = 'PaymentsApiError';
    this.status = response.status;
    this.type = text('type') ?? '';
    this.code = text('code') ?? '';
    this.errorCode = text('errorCode') ?? '';
    this.param = text('param');
    this.requestId = text('requestId') ?? response.headers.get('x-request-id') ?? undefined;
    this.docUrl = text('docUrl');
    this.userSafeMessage = error.userSafeMessage === true;
    this.retryable = response.headers.get('x-mp-should-retry') === 'true';
    this.retryAfterSeconds = readRetryAfter(response.headers);
  }
}

/** The envelope's fields; a proxy in between may have answered with anything. */
function readError(body: string): Readonly<Record<string, unknown>> {
  try {
    const { error } = JSON.parse(body);
    return typeof error === 'object' && error !== null ? error : {};
  } catch {
    return {};
  }
}
