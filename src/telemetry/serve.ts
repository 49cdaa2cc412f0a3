import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';

export interface MetricsServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Longest a client may take to send its request, in milliseconds. */
const REQUEST_TIMEOUT_MS = 5_000;
/** Connections at once: a few scrapers, and a hand. */
const CONNECTIONS_MAXIMUM = 16;

/**
 * Serves GET /metrics and nothing else.
 * @throws when the port cannot be had.
 */
export async function serveMetrics(
  registry: Registry,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<MetricsServer> {
  const server = createServer((request, response) => void answer(registry, request, response));
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.headersTimeout = REQUEST_TIMEOUT_MS;
  server.maxConnections = CONNECTIONS_MAXIMUM;
  server.listen(port, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function answer(
  registry: Registry,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [path] = (request.url ?? '').split('?');
  if (path !== '/metrics' || request.method !== 'GET') {
    response.writeHead(404).end();
    return;
  }
  try {
    const text = await registry.metrics();
    response.writeHead(200, { 'content-type': registry.contentType }).end(text);
  } catch {
    response.writeHead(500).end();
  }
}
