import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from './api-error.ts';
import { ERRORS } from './catalogue.ts';
import { type ErrorResponse, pageStatusOf, refusalHeaders, toResponse } from './envelope.ts';

export interface ErrorHandlerOptions {
  readonly publicUrl: string;
  /** Whether an error means that something the service depends on is unavailable. */
  readonly isUnavailable: (error: unknown) => boolean;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Short code of the error in the response, for the log line and the request log. */
    errorCode: string | null;
    /** The field or parameter that the error names. */
    errorParam: string | null;
  }
}

/** Shown to customers when the service fails, so it gives no reason. */
const INTERNAL_ERROR_MESSAGE = 'Something went wrong on our side. Please try again later.';

/** Fastify's own refusals of malformed requests, by error code. */
const FRAMEWORK_REFUSALS: Readonly<Record<string, string>> = {
  FST_ERR_BAD_URL: 'The path is not valid percent-encoding.',
  FST_ERR_MAX_PARAM_LENGTH: 'The path is too long.',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'Send the body with Content-Type: application/json.',
};

/** Maps anything thrown to an error of the catalogue; an unknown error becomes E5001. */
function toApiError(error: unknown, isUnavailable: (error: unknown) => boolean): ApiError {
  if (error instanceof ApiError) return error;
  if (isUnavailable(error)) {
    return new ApiError('E5002', 'The service is temporarily unavailable; nothing was executed.', {
      cause: error,
    });
  }
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const refusal = FRAMEWORK_REFUSALS[code];
  if (refusal !== undefined) return new ApiError('E1000', refusal, { cause: error });
  return new ApiError('E5001', INTERNAL_ERROR_MESSAGE, { cause: error });
}

/**
 * Registers the error handler that every failure goes through.
 * @param send Sends the response for the routes that have no error handler of their own.
 */
export function registerErrorHandler(
  app: FastifyInstance,
  options: ErrorHandlerOptions,
  send: typeof sendError = sendError,
): void {
  app.decorateRequest('errorCode', null);
  app.decorateRequest('errorParam', null);
  app.setErrorHandler((error, request, reply) => send(error, request, reply, options));
}

/**
 * Notes a failure for the request's log line, and logs it if an operator has to know about it. That excludes
 * refusals that the client caused, and an overload, which the request log and metrics show.
 */
export function noteFailure(
  error: unknown,
  request: FastifyRequest,
  { isUnavailable }: Pick<ErrorHandlerOptions, 'isUnavailable'>,
): ApiError {
  const apiError = toApiError(error, isUnavailable);
  const { errorCode, retryAfterSeconds } = apiError;
  const isOverload = errorCode === 'E5002' && retryAfterSeconds !== undefined;
  if (ERRORS[errorCode].status >= 500 && !isOverload) {
    request.log.error({ err: apiError.cause ?? apiError, errorCode }, 'request failed');
  }
  request.errorCode = errorCode;
  request.errorParam = apiError.param ?? null;
  return apiError;
}

/** Gives a reply the status and headers of a failure; the page writes the body. */
export function failPage(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  options: Pick<ErrorHandlerOptions, 'isUnavailable'>,
): ApiError {
  const apiError = noteFailure(error, request, options);
  reply.status(pageStatusOf(apiError)).headers(refusalHeaders(apiError));
  return apiError;
}

/** Notes a failure, and renders its response. */
export function answerFailure(
  error: unknown,
  request: FastifyRequest,
  options: ErrorHandlerOptions,
): ErrorResponse {
  return toResponse(noteFailure(error, request, options), request.id, options.publicUrl);
}

export function sendError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  options: ErrorHandlerOptions,
): FastifyReply {
  const response = answerFailure(error, request, options);
  return reply
    .status(response.status)
    .headers(response.headers)
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(response.envelope);
}
