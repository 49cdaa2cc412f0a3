import { createServer, type RequestListener, type Server } from 'node:http';

/** Longest a client may take to send a whole request, in milliseconds. */
const REQUEST_TIMEOUT_MS = 30_000;
/** Longest an idle connection is kept, in milliseconds: above the 60 s of common load balancers. */
const KEEP_ALIVE_MS = 65_000;

/** A server for `listener` that is patient with balancers and impatient with slow clients. */
export function createHttpServer(listener: RequestListener): Server {
  // A request without Host is refused like any other, instead of by Node without an envelope.
  const server = createServer({ requireHostHeader: false }, listener);
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  return server;
}
