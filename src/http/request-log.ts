import type { ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { httpRequestSeconds, httpRequests } from '../telemetry/counts.ts';
import { followTrace } from './trace.ts';

/**
 * Where a response keeps its request. A WeakMap of responses would keep each request until the next
 * but one collection of young objects, which have to copy them then: it makes them take three times
 * as long.
 */
const FOLLOWED = Symbol('followed request');

interface FollowedResponse extends ServerResponse {
  [FOLLOWED]?: FastifyRequest;
}

/**
 * Sends X-Request-Id with the answer and logs one line for the request, also when the client is gone
 * before the answer. Headers, queries and bodies stay out of the log: they hold passphrases and
 * customers' references.
 */
export type FollowRequest = (request: FastifyRequest, reply: FastifyReply) => void;

/** Follows every request that reaches a route or no route. */
export function registerRequestLog(app: FastifyInstance, follow: FollowRequest): void {
  app.decorateRequest('trace', null);
  app.addHook('onRequest', (request, reply, done) => {
    follow(request, reply);
    done();
  });
}

export function createRequestLog(logger: FastifyBaseLogger): FollowRequest {
  // The line has no field that could hold a secret, and to look for one takes twice as long as to
  // write it.
  const lines = logger.child({}, { redact: [] });
  return (request, reply) => followRequest(lines, request, reply);
}

function followRequest(
  lines: FastifyBaseLogger,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const response: FollowedResponse = reply.raw;
  response[FOLLOWED] = request;
  followTrace(request, reply);
  const arrived = performance.now();
  // A closed connection no longer tells whose it was.
  const address = request.ip;
  reply.header('x-request-id', request.id);
  reply.header('x-content-type-options', 'nosniff');
  reply.header('cache-control', 'no-store');
  // Unlike Fastify's onResponse, this comes for a connection that breaks as well.
  reply.raw.once('close', () => {
    const { method, errorCode } = request;
    const route = request.routeOptions.url ?? null;
    const status = reply.raw.headersSent ? reply.statusCode : null;
    const milliseconds = performance.now() - arrived;
    count(method, route ?? 'none', status ?? 0, errorCode ?? '', milliseconds / 1000);
    lines.info(
      {
        reqId: request.id,
        traceId: request.trace?.traceId,
        method,
        route,
        status,
        aborted: reply.raw.writableFinished ? undefined : true,
        errorCode: errorCode ?? undefined,
        keyId: request.principal?.keyId,
        address,
        milliseconds: Math.round(milliseconds * 10) / 10,
      },
      'request',
    );
  });
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']);

/** What a method is counted as: there are many, and any client can send one that no route takes. */
export function countedMethod(method: string): string {
  return METHODS.has(method) ? method : 'other';
}

function count(
  method: string,
  route: string,
  status: number,
  errorCode: string,
  seconds: number,
): void {
  const known = countedMethod(method);
  httpRequests.add(known, route, String(status), errorCode);
  httpRequestSeconds.observe(seconds, known, route);
}

/** The request that a response belongs to; undefined until it is followed. */
export function requestOf(response: FollowedResponse): FastifyRequest | undefined {
  return response[FOLLOWED];
}
