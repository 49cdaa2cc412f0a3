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

/** What customers may be shown when the service fails; it says nothing of why. */
const INTERNAL_ERROR_MESSAGE = 'Something went wrong on our side. Please try again later.';

/** What Fastify refuses by itself, before any hook of a route: all of it malformed as a whole. */
const FRAMEWORK_REFUSALS: Readonly<Record<string, string>> = {
  FST_ERR_BAD_URL: 'The path is not valid percent-encoding.',
  FST_ERR_MAX_PARAM_LENGTH: 'The path is too long.',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'Send the body with Content-Type: application/json.',
};

/** Turns anything thrown into a refusal of the catalogue; what is not known becomes E5001. */
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
 * Logs what an operator has to know about; refusals of the client's making are not news, and of
 * those that an overload makes each has its line anyway.
 */
export function logFailure(request: FastifyRequest, error: ApiError): void {
  const isOverload = error.errorCode === 'E5002' && error.retryAfterSeconds !== undefined;
  if (ERRORS[error.errorCode].status >= 500 && !isOverload) {
    request.log.error({ err: error.cause ?? error, errorCode: error.errorCode }, 'request failed');
  }
}

/** Registers the one door by which every failure leaves. */
export function registerErrorHandler(app: FastifyInstance, options: ErrorHandlerOptions): void {
  app.decorateRequest('errorCode', null);
  app.setErrorHandler((error, request, reply) => sendError(error, request, reply, options));
}

/** Turns a failure into its answer, and logs what an operator has to know about. */
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
