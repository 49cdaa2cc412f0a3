import { createServer, maxHeaderSize } from 'node:http';
import { type FastifyServerOptions, LogController } from 'fastify';
import { newId } from '../crypto/new-id.ts';
import { parseQueryString } from './query-string.ts';
import { BODY_LIMIT_BYTES } from './raw-body.ts';

/** How long Node's HTTP server bears with its clients, in milliseconds, and with how many of them. */
export interface ServerLimits {
  /** Until the head of a request has arrived; a new connection's time begins when it is accepted. */
  readonly headersMs: number;
  /** Until a whole request has arrived. */
  readonly requestMs: number;
  /** How often both are checked, so that each ends a connection at most this much later. */
  readonly checkMs: number;
  /** How long a connection is kept without a request. */
  readonly keepAliveMs: number;
  /** Most connections at once; any beyond is closed as soon as it is accepted. */
  readonly connections: number;
}

export const SERVER_LIMITS: ServerLimits = {
  headersMs: 10_000,
  requestMs: 30_000,
  checkMs: 1_000,
  // Above the 60 s of common load balancers.
  keepAliveMs: 65_000,
  // An idle one takes under 20 KB, so that all of them together stay below 200 MB.
  connections: 10_000,
};

/** How Fastify and Node's HTTP server treat connections and requests, whatever the route. */
export function serverOptions(limits = SERVER_LIMITS) {
  return {
    // With a factory Fastify serves one address only. For a name with several it would add servers that
    // have none of our handlers, and that closing does not wait for.
    serverFactory(handler) {
      // As options: Node derives others from some of them, and reads checkMs nowhere else.
      const server = createServer(
        {
          headersTimeout: limits.headersMs,
          requestTimeout: limits.requestMs,
          connectionsCheckingInterval: limits.checkMs,
          keepAliveTimeout: limits.keepAliveMs,
          // A request without Host gets our envelope (registerHttpRules) instead of Node's empty answer.
          requireHostHeader: false,
        },
        handler,
      );
      server.maxConnections = limits.connections;
      return server;
    },
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: newId,
    requestIdHeader: false,
    bodyLimit: BODY_LIMIT_BYTES,
    exposeHeadRoutes: true,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    routerOptions: {
      querystringParser: parseQueryString,
      // Any path parameter that fits into a request reaches validation, which refuses it by name.
      maxParamLength: maxHeaderSize,
    },
  } as const satisfies FastifyServerOptions;
}
