import type { ErrorEnvelope } from '#schemas/error.ts';
import { type ApiError, type ExceededLimit, HeadTooLarge } from './api-error.ts';
import { ERRORS } from './catalogue.ts';

/** The response to a refused request. */
export interface ErrorResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly envelope: ErrorEnvelope;
}

/**
 * Renders an error for v1 and partner routes.
 * @param publicUrl Base of the documentation links.
 */
export function toResponse(error: ApiError, requestId: string, publicUrl: string): ErrorResponse {
  const { type, code, retry } = ERRORS[error.errorCode];
  return {
    status: statusOf(error),
    headers: { 'x-mp-should-retry': String(retry), ...refusalHeaders(error) },
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

/** HTTP status of the response as a page. */
export function pageStatusOf(error: ApiError): number {
  return error instanceof HeadTooLarge ? 431 : statusOf(error);
}

/** HTTP status of the response as JSON. */
export function statusOf({ errorCode, allow }: ApiError): number {
  return allow === undefined ? ERRORS[errorCode].status : 405;
}

/** Retry-After, the headers of an exceeded limit, and Allow: for JSON and for pages. */
export function refusalHeaders({
  retryAfterSeconds,
  limit,
  allow,
}: ApiError): Record<string, string> {
  return {
    ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
    ...(limit === undefined ? {} : limitHeaders(limit, retryAfterSeconds)),
    ...(allow === undefined ? {} : { allow: allow.join(', ') }),
  };
}

/** Headers for a limit that is used up (draft-ietf-httpapi-ratelimit-headers-10), besides the standard Retry-After. */
function limitHeaders(
  { name, most, windowSeconds }: ExceededLimit,
  secondsLeft: number | undefined,
): Record<string, string> {
  return {
    'ratelimit-policy': `"${name}";q=${most};w=${windowSeconds}`,
    ratelimit: `"${name}";r=0${secondsLeft === undefined ? '' : `;t=${secondsLeft}`}`,
  };
}
