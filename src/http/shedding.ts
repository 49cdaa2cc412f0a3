import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { FastifyBaseLogger } from 'fastify';
import { newId } from '../crypto/new-id.ts';
import type { ApiError } from '../errors/api-error.ts';
import type { ErrorAnswer } from '../errors/envelope.ts';
import { httpRequests } from '../telemetry/counts.ts';
import type { Admission } from './admission.ts';
import { countedMethod } from './request-log.ts';

interface SheddingOptions {
  readonly admission: Admission;
  /** Whether an overload refuses requests of this target; health checks and pages it does not. */
  readonly concerns: (url: string) => boolean;
  readonly answer: (refusal: ApiError, requestId: string) => ErrorAnswer;
  readonly logger: FastifyBaseLogger;
}

/**
 * Answers what an overload refuses before Fastify sees it. A refusal that went the way of a request
 * would cost as much as many an answer; this way it costs what reading a request and writing a response
 * cost Node.
 */
export function shedOverload(handle: RequestListener, options: SheddingOptions): RequestListener {
  const { admission, concerns, answer, logger } = options;
  const lines = logger.child({}, { redact: [] });

  function refuse(refusal: ApiError, request: IncomingMessage, response: ServerResponse): void {
    const reqId = newId();
    const { status, headers, envelope } = answer(refusal, reqId);
    const body = JSON.stringify(envelope);
    response.writeHead(status, {
      // Without it head and body would go out one by one.
      'content-length': Buffer.byteLength(body),
      'content-type': 'application/json; charset=utf-8',
      'x-request-id': reqId,
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      ...headers,
    });
    response.end(body);
    const { errorCode } = refusal;
    const { method = '' } = request;
    httpRequests.add(countedMethod(method), 'none', String(status), errorCode);
    // Of the connection: a proxy's where there is one, which is not looked behind for a refusal.
    const address = request.socket.remoteAddress;
    lines.info({ reqId, method, route: null, status, errorCode, address }, 'request');
  }

  return (request, response) => {
    const refusal = concerns(request.url ?? '') ? admission.overload(response) : undefined;
    if (refusal === undefined) handle(request, response);
    else refuse(refusal, request, response);
  };
}
