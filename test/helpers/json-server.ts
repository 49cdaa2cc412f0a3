import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface JsonServer {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Responds to JSON with JSON, on a free port.
 * @param answer Gets the body, or an empty object without one, and the path; returns JSON text.
 */
export async function serveJson(
  answer: (body: unknown, path: string) => string,
): Promise<JsonServer> {
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += part;
    response.setHeader('content-type', 'application/json');
    response.end(answer(JSON.parse(text || '{}'), request.url ?? ''));
  });
  // A connection must not be closed at the moment it is reused.
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
