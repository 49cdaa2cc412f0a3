import type { ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Counter, Histogram } from 'prom-client';
import type { ReadClientAddress } from './client-address.ts';
import { followTrace } from './trace.ts';

/** From the fastest reads to the longest that clients wait, in seconds. */
const DURATION_BUCKETS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
];

const httpRequests = new Counter({
  name: 'eps_http_requests_total',
  help: 'HTTP requests that have ended; error_code is empty for those without an error, status is 0 for clients that were gone before the response',
  labelNames: ['method', 'route', 'status', 'error_code'],
});
const httpRequestSeconds = new Histogram({
  name: 'eps_http_request_duration_seconds',
  help: 'Time from the arrival of a request to the end of its response',
  labelNames: ['method', 'route'],
  buckets: DURATION_BUCKETS,
});

/** Methods that are counted by name; a client can send any other. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']);

/** Property of a response that refers to its request. */
const REQUEST = Symbol('request');

interface FollowedResponse extends ServerResponse {
  [REQUEST]?: FastifyRequest;
}

/**
 * What the panel adds to the log entries of its requests: IDs and constants of the code, never text that a client
 * sent.
 */
interface LogFields {
  /** Who has signed in, or tries to. */
  readonly personId?: string;
  /** The account in the path, if the person may enter it. */
  readonly accountId?: string;
  /** Why the request was refused; absent if `errorCode` says it. */
  readonly refusal?: string;
  /** The field of a form that the refusal is about. */
  readonly field?: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** For the log entry of the request; null outside of the panel. */
    logFields: LogFields | null;
  }
}

/** The log entry of a request. */
interface RequestLine extends LogFields {
  readonly reqId: string;
  readonly traceId?: string | undefined;
  readonly method?: string | undefined;
  /** Template of the route; null for a request without one. */
  readonly route: string | null;
  /** null if the client was gone before the response. */
  readonly status: number | null;
  readonly aborted?: true | undefined;
  readonly errorCode?: string | undefined;
  /** Node's error code for a request that could not be read. */
  readonly reason?: string | undefined;
  readonly keyId?: string | undefined;
  readonly address: string | undefined;
  readonly milliseconds?: number;
}

/**
 * Counts each request and logs it in one line, even if the client is gone before the response. Headers, queries and
 * bodies stay out of the log: they hold passphrases and customers' references.
 */
export interface RequestLog {
  /** Records a request when its response closes. Adds X-Request-Id and the headers of all responses to it. */
  follow(request: FastifyRequest, reply: FastifyReply): void;
  /** Records a request that has ended. */
  record(line: RequestLine): void;
}

/** @param headers Sent with every response. */
export function createRequestLog(
  logger: FastifyBaseLogger,
  headers: Readonly<Record<string, string>>,
  readAddress: ReadClientAddress,
): RequestLog {
  // No field of the entry can contain a secret, and redacting takes longer than writing it.
  const lines = logger.child({}, { redact: [] });

  function record(line: RequestLine): void {
    const { method = '', route, status, errorCode = '', milliseconds } = line;
    const labels = { method: METHODS.has(method) ? method : 'other', route: route ?? 'none' };
    httpRequests.inc({ ...labels, status: String(status ?? 0), error_code: errorCode });
    if (milliseconds !== undefined) httpRequestSeconds.observe(labels, milliseconds / 1000);
    lines.info(line, 'request');
  }

  function follow(request: FastifyRequest, reply: FastifyReply): void {
    const response: FollowedResponse = reply.raw;
    response[REQUEST] = request;
    followTrace(request, reply);
    const arrived = performance.now();
    // Read now, since a closed connection has no address.
    request.clientAddress = readAddress(request.raw);
    reply.header('x-request-id', request.id).headers(headers);
    // Unlike Fastify's onResponse, 'close' is also emitted if the connection breaks. It is emitted once.
    response.on('close', () => {
      const milliseconds = performance.now() - arrived;
      record({
        reqId: request.id,
        traceId: request.trace?.traceId,
        method: request.method,
        route: request.routeOptions.url ?? null,
        status: response.headersSent ? reply.statusCode : null,
        aborted: response.writableFinished ? undefined : true,
        errorCode: request.errorCode ?? undefined,
        keyId: request.keyId ?? undefined,
        ...request.logFields,
        address: request.clientAddress,
        milliseconds: Math.round(milliseconds * 10) / 10,
      });
    });
  }
  return { follow, record };
}

/** Follows every request, whether it reaches a route or not. */
export function registerRequestLog(app: FastifyInstance, { follow }: RequestLog): void {
  app.decorateRequest('trace', null);
  app.decorateRequest('logFields', null);
  app.decorateRequest('clientAddress', undefined);
  app.addHook('onRequest', (request, reply, done) => {
    follow(request, reply);
    done();
  });
}

/** The request of a response; undefined before `follow`. */
export function requestOf(response: FollowedResponse): FastifyRequest | undefined {
  return response[REQUEST];
}
