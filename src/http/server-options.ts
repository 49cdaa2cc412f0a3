import { createServer } from 'node:http';
import { type FastifyServerOptions, LogController } from 'fastify';
import { newId } from '#crypto/new-id.ts';
import { parseQueryString } from './query-string.ts';
import { BODY_LIMIT_BYTES } from './raw-body.ts';
import { HEAD_LIMIT_BYTES } from './unreadable-request.ts';

/** Timeouts of Node's HTTP server, in milliseconds, and its limit of connections. */
export interface ServerLimits {
  /** For the head of a request to arrive; on a new connection, counted from its acceptance. */
  readonly headersMs: number;
  /** For the whole request to arrive. */
  readonly requestMs: number;
  /** How often both are checked: a connection is closed at most this much later. */
  readonly checkMs: number;
  /** How long an idle connection stays open. */
  readonly keepAliveMs: number;
  /** Most connections at once; any more are closed as soon as they are accepted. */
  readonly connections: number;
}

export const SERVER_LIMITS: ServerLimits = {
  headersMs: 10_000,
  requestMs: 30_000,
  checkMs: 1_000,
  // Above the 60 s of common load balancers.
  keepAliveMs: 65_000,
  // An idle connection takes less than 20 KB, so all of them together stay below 200 MB.
  connections: 10_000,
};

/** Options of Fastify and of Node's HTTP server, for all routes. */
export function serverOptions(limits = SERVER_LIMITS) {
  return {
    // With a factory, Fastify listens on one address only. Without one, it starts another server for each
    // further address of a host name, without our event handlers, and does not wait for it when closing.
    serverFactory(handler) {
      // Set as options, not as properties later: Node derives other values from them, and reads the
      // checking interval only here.
      const server = createServer(
        {
          maxHeaderSize: 2 * HEAD_LIMIT_BYTES,
          headersTimeout: limits.headersMs,
          requestTimeout: limits.requestMs,
          connectionsCheckingInterval: limits.checkMs,
          keepAliveTimeout: limits.keepAliveMs,
          // registerHttpRules refuses a request without Host: Node's own response would be empty.
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
      // Long path parameters are refused by validation, whose error names the parameter.
      maxParamLength: 2 * HEAD_LIMIT_BYTES,
    },
  } as const satisfies FastifyServerOptions;
}
