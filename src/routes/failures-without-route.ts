import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiError } from '../errors/api-error.ts';
import { type ErrorAnswer, toAnswer } from '../errors/envelope.ts';
import { sendError } from '../errors/handler.ts';
import type { RequestLog } from '../http/request-log.ts';
import { toLegacyRefusal } from '../legacy/translate.ts';
import { CHECKOUT_PREFIX } from '../payments/checkout-token.ts';
import { sendFailure } from './checkout/failures.ts';
import {
  type LegacyAnswer,
  type LegacyAnswers,
  sendLegacyFailure,
  toLegacyAnswer,
} from './legacy/failures.ts';
import { isLegacyPath } from './legacy/paths.ts';

interface WithoutRoute {
  readonly requestLog: RequestLog;
  readonly answers: LegacyAnswers;
  /** Counts the request; @throws ApiError E9001 */
  readonly count: (request: FastifyRequest) => Promise<void>;
}

/**
 * Answers what Fastify refuses before it knows a route, such as a path that is not valid encoding, in
 * the form that the part of the service below that path uses.
 */
export function answerWithoutRoute({ requestLog, answers, count }: WithoutRoute) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    requestLog.follow(request, reply);
    const send = (failure: unknown) => sendInForm(failure, request, reply, answers);
    count(request)
      .then(() => send(error), send)
      .catch(failure => {
        request.log.error({ err: failure }, 'refusal could not be sent');
        reply.raw.destroy();
      });
  };
}

function sendInForm(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  answers: LegacyAnswers,
): FastifyReply {
  if (isLegacyPath(request.url)) return sendLegacyFailure(error, request, reply, answers);
  const forPeople = request.url.startsWith(`${CHECKOUT_PREFIX}/`);
  return (forPeople ? sendFailure : sendError)(error, request, reply, answers);
}

/**
 * Renders the refusal of a request that could not be read, likewise.
 * @param url The request target; undefined when not even that was read.
 */
export function renderUnreadable(
  refusal: ApiError,
  requestId: string,
  url: string | undefined,
  answers: LegacyAnswers,
): ErrorAnswer | LegacyAnswer {
  return url !== undefined && isLegacyPath(url)
    ? toLegacyAnswer(toLegacyRefusal(refusal), url, answers)
    : toAnswer(refusal, requestId, answers.publicUrl);
}
