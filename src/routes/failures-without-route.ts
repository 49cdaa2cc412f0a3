import type { FastifyReply, FastifyRequest } from 'fastify';
import { DOCUMENT_HEADERS } from '../checkout/page/document.ts';
import { type CheckoutResponses, renderFailure, sendFailure } from '../checkout/page/failures.ts';
import { ENGLISH } from '../checkout/page/locale.ts';
import type { ApiError } from '../errors/api-error.ts';
import { ERRORS } from '../errors/catalogue.ts';
import { toResponse } from '../errors/envelope.ts';
import { sendError } from '../errors/handler.ts';
import type { RequestLog } from '../http/request-log.ts';
import { isBelow } from '../http/request-target.ts';
import type { UnreadableResponse } from '../http/unreadable-request.ts';
import { toLegacyRefusal } from '../legacy/translate.ts';
import { CHECKOUT_PREFIX } from '../payments/checkout-path.ts';
import { type LegacyResponses, sendLegacyFailure, toLegacyResponse } from './legacy/failures.ts';
import { isLegacyPath } from './legacy/paths.ts';

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

interface WithoutRoute {
  readonly requestLog: RequestLog;
  readonly answers: LegacyResponses & CheckoutResponses;
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
  answers: LegacyResponses & CheckoutResponses,
): FastifyReply {
  if (isLegacyPath(request.url)) return sendLegacyFailure(error, request, reply, answers);
  return (isForPeople(request.url) ? sendFailure : sendError)(error, request, reply, answers);
}

const isForPeople = (url: string) => isBelow(CHECKOUT_PREFIX, url);

/**
 * Renders the refusal of a request that could not be read, likewise.
 * @param url The request target; undefined when not even that was read.
 */
export function renderUnreadable(
  refusal: ApiError,
  requestId: string,
  url: string | undefined,
  answers: LegacyResponses & CheckoutResponses,
): UnreadableResponse {
  if (url !== undefined && isForPeople(url)) {
    const page = renderFailure(refusal, requestId, ENGLISH, answers);
    return { status: ERRORS[refusal.errorCode].status, headers: DOCUMENT_HEADERS, body: page };
  }
  const { status, headers, envelope } =
    url !== undefined && isLegacyPath(url)
      ? toLegacyResponse(toLegacyRefusal(refusal), url, answers)
      : toResponse(refusal, requestId, answers.publicUrl);
  return { status, headers: { ...JSON_TYPE, ...headers }, body: JSON.stringify(envelope) };
}
