import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Monitor } from './monitor.ts';

export interface MonitoringServer {
  readonly port: number;
  close(): Promise<void>;
}

type Served = Pick<Monitor, 'registry' | 'readiness'>;

/** Longest a client may take to send its request, in milliseconds. */
const REQUEST_TIMEOUT_MS = 5_000;
/** Enough connections for a few scrapers and probes. */
const CONNECTIONS_MAXIMUM = 16;
const METHODS = ['GET', 'HEAD'];

/**
 * Serves GET /metrics, /healthz and /readyz on a port of their own, so that the connections of scrapers
 * and probes do not wait behind those of the API.
 * @throws Error when the port is not available.
 */
export async function serveMonitoring(
  served: Served,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<MonitoringServer> {
  const server = createServer((request, response) => {
    const [path = ''] = (request.url ?? '').split('?');
    const respond = RESPONSES[path];
    if (respond === undefined) response.writeHead(404).end();
    else if (!METHODS.includes(request.method ?? '')) {
      response.writeHead(405, { allow: METHODS.join(', ') }).end();
    } else respond(served, response).catch(() => response.writeHead(500).end());
  });
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

const RESPONSES: Readonly<
  Record<string, (served: Served, response: ServerResponse) => Promise<unknown>>
> = {
  async '/metrics'({ registry }, response) {
    const text = await registry.metrics();
    response.writeHead(200, { 'content-type': registry.contentType }).end(text);
  },
  async '/healthz'(_served, response) {
    sendJson(response, 200, { status: 'ok' });
  },
  async '/readyz'({ readiness }, response) {
    const { ready, body } = await readiness();
    sendJson(response, ready ? 200 : 503, body);
  },
};

function sendJson(response: ServerResponse, status: number, body: object): void {
  response
    .writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
    .end(JSON.stringify(body));
}
