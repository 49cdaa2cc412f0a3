import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiError } from '#errors/api-error.ts';
import { pageStatusOf, toResponse } from '#errors/envelope.ts';
import { sendError } from '#errors/handler.ts';
import type { RequestLog } from '#http/request-log.ts';
import { isBelow } from '#http/request-target.ts';
import type { ReadHead, UnreadableResponse } from '#http/unreadable-request.ts';
import { CHECKOUT_PREFIX } from '#payments/checkout-path.ts';
import { DOCUMENT_HEADERS } from './checkout/page/document.ts';
import {
  type CheckoutFailureOptions,
  renderFailure,
  sendFailure,
} from './checkout/page/failures.ts';
import { localeOf } from './checkout/page/locale.ts';
import {
  type LegacyFailureOptions,
  sendLegacyFailure,
  toLegacyResponse,
} from './legacy/routes/failures.ts';
import { isLegacyPath } from './legacy/routes/paths.ts';
import { toLegacyRefusal } from './legacy/translate.ts';

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

type FailureOptions = LegacyFailureOptions & CheckoutFailureOptions;

/**
 * Renders what Fastify refuses before routing, such as a path with invalid encoding, in the format of the part of the
 * service that the path belongs to.
 * @param count Counts the request; throws ApiError E9001.
 */
export function refuseWithoutRoute(
  requestLog: RequestLog,
  options: FailureOptions,
  count: (request: FastifyRequest) => Promise<void>,
) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    requestLog.follow(request, reply);
    const sendForm = isLegacyPath(request.url)
      ? sendLegacyFailure
      : isForPeople(request.url)
        ? sendFailure
        : sendError;
    const send = (failure: unknown) => sendForm(failure, request, reply, options);
    count(request)
      .then(() => send(error), send)
      .catch(failure => {
        request.log.error({ err: failure }, 'refusal could not be sent');
        reply.raw.destroy();
      });
  };
}

const isForPeople = (url: string) => isBelow(CHECKOUT_PREFIX, url);

/** Renders the refusal of an unreadable request, in the format of the part that its path belongs to. */
export function renderUnreadable(
  refusal: ApiError,
  requestId: string,
  { url, headers: read }: ReadHead,
  options: FailureOptions,
): UnreadableResponse {
  if (url !== undefined && isForPeople(url)) {
    const query = Object.fromEntries(new URLSearchParams(url.split('?', 2)[1]));
    const locale = localeOf({ query, headers: read });
    const page = renderFailure(refusal, requestId, locale, options);
    return { status: pageStatusOf(refusal), headers: DOCUMENT_HEADERS, body: page };
  }
  const { status, headers, envelope } =
    url !== undefined && isLegacyPath(url)
      ? toLegacyResponse(toLegacyRefusal(refusal), url, options)
      : toResponse(refusal, requestId, options.publicUrl);
  return { status, headers: { ...JSON_TYPE, ...headers }, body: JSON.stringify(envelope) };
}
