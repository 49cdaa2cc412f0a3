import { createServer, maxHeaderSize } from 'node:http';
import { type FastifyInstance, type FastifyServerOptions, LogController } from 'fastify';
import { newId } from '../crypto/new-id.ts';
import { parseQueryString } from './query-string.ts';
import { BODY_LIMIT_BYTES } from './raw-body.ts';

/** Longest a client may take to send a whole request, in milliseconds. */
const REQUEST_TIMEOUT_MS = 30_000;
/** Longest an idle connection is kept, in milliseconds: above the 60 s of common load balancers. */
const KEEP_ALIVE_MS = 65_000;
/** How often connections that have become idle are closed during shutdown, in milliseconds. */
const IDLE_CHECK_MS = 100;

/** How Fastify and Node's HTTP server treat connections and requests, whatever the route. */
export const SERVER_OPTIONS = {
  // With a factory Fastify serves one address only. For a name with several it would add servers that
  // have none of our handlers, and that closing does not wait for.
  serverFactory(handler) {
    // A request without Host gets our envelope (registerHttpRules) instead of Node's empty answer.
    const server = createServer({ requireHostHeader: false }, handler);
    server.requestTimeout = REQUEST_TIMEOUT_MS;
    server.keepAliveTimeout = KEEP_ALIVE_MS;
    return server;
  },
  logController: new LogController({ disableRequestLogging: true }),
  genReqId: newId,
  requestIdHeader: false,
  bodyLimit: BODY_LIMIT_BYTES,
  exposeHeadRoutes: false,
  return503OnClosing: false,
  forceCloseConnections: 'idle',
  routerOptions: {
    querystringParser: parseQueryString,
    // Any path parameter that fits into a request reaches validation, which refuses it by name.
    maxParamLength: maxHeaderSize,
  },
} as const satisfies FastifyServerOptions;

/**
 * Lets `app.close()` end once the requests in flight are answered. Fastify closes idle connections
 * once; one that was busy at that moment would stay open until its client lets go of it.
 */
export function closeIdleConnections(app: FastifyInstance): void {
  let check: NodeJS.Timeout | undefined;
  app.addHook('preClose', async () => {
    check = setInterval(() => app.server.closeIdleConnections(), IDLE_CHECK_MS);
  });
  app.addHook('onClose', async () => clearInterval(check));
}
