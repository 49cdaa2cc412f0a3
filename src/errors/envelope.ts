import type { ErrorEnvelope } from '#schemas/error.ts';
import type { ApiError } from './api-error.ts';
import { ERRORS } from './catalogue.ts';

/** The answer to a refused request: its status, its envelope and the headers that go with it. */
export interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly envelope: ErrorEnvelope;
}

/**
 * Renders an error for v1 and partner routes.
 * @param publicUrl Base of the documentation links.
 */
export function toAnswer(error: ApiError, requestId: string, publicUrl: string): ErrorAnswer {
  const { status, type, code, retry } = ERRORS[error.errorCode];
  const headers: Record<string, string> = { 'x-mp-should-retry': String(retry) };
  if (error.retryAfterSeconds !== undefined) {
    headers['retry-after'] = String(error.retryAfterSeconds);
  }
  return {
    status,
    headers,
    envelope: {
      error: {
        type,
        code,
        errorCode: error.errorCode,
        message: error.message,
        ...(error.param === undefined ? {} : { param: error.param }),
        docUrl: `${publicUrl}/docs/errors/${error.errorCode}`,
        userSafeMessage: error.errorCode === 'E5001',
        requestId,
      },
    },
  };
}
