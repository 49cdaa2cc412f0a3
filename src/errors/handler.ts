import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from './api-error.ts';
import { ERRORS } from './catalogue.ts';
import { type ErrorAnswer, toAnswer } from './envelope.ts';

export interface ErrorHandlerOptions {
  readonly publicUrl: string;
  /** Whether an error means that something the service depends on is unavailable. */
  readonly isUnavailable: (error: unknown) => boolean;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Short code of the error this request was answered with, for the log line. */
    errorCode: string | null;
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
export function toApiError(error: unknown, isUnavailable: (error: unknown) => boolean): ApiError {
  if (error instanceof ApiError) return error;
  if (isUnavailable(error)) {
    return new ApiError('E5002', 'The service is temporarily unavailable.', { cause: error });
  }
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const refusal = FRAMEWORK_REFUSALS[code];
  if (refusal !== undefined) return new ApiError('E1000', refusal, { cause: error });
  return new ApiError('E5001', INTERNAL_ERROR_MESSAGE, { cause: error });
}

/**
 * Logs what an operator has to know about. Refusals that the client caused are not, and an overload
 * shows in the request log and in metrics.
 */
export function logFailure(request: FastifyRequest, error: ApiError): void {
  const isOverload = error.errorCode === 'E5002' && error.retryAfterSeconds !== undefined;
  if (ERRORS[error.errorCode].status >= 500 && !isOverload) {
    request.log.error({ err: error.cause ?? error, errorCode: error.errorCode }, 'request failed');
  }
}

/**
 * Registers the error handler that every failure goes through.
 * @param send Answers where a part of the service has no form of its own.
 */
export function registerErrorHandler(
  app: FastifyInstance,
  options: ErrorHandlerOptions,
  send: typeof sendError = sendError,
): void {
  app.decorateRequest('errorCode', null);
  app.setErrorHandler((error, request, reply) => send(error, request, reply, options));
}

/** Renders a failure, and logs it where an operator has to know about it. */
export function answerFailure(
  error: unknown,
  request: FastifyRequest,
  { isUnavailable, publicUrl }: ErrorHandlerOptions,
): ErrorAnswer {
  const apiError = toApiError(error, isUnavailable);
  logFailure(request, apiError);
  request.errorCode = apiError.errorCode;
  return toAnswer(apiError, request.id, publicUrl);
}

export function sendError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  options: ErrorHandlerOptions,
): FastifyReply {
  const answer = answerFailure(error, request, options);
  return reply
    .status(answer.status)
    .headers(answer.headers)
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(answer.envelope);
}
