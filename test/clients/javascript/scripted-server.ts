import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { type ClientOptions, createClient } from '#client/index.ts';

export const CREDENTIALS = { keyId: 'mpk_1', secret: 'mps_1', passphrase: 'pass' };

/** What the server does with one request: responds, breaks the connection, or never responds. */
export type Step = Answer | 'reset' | 'hang';

export interface Answer {
  readonly status: number;
  readonly headers?: Record<string, string>;
  /** Text is sent unchanged, anything else as JSON. */
  readonly body?: unknown;
}

export interface Received {
  readonly method: string;
  /** The request target as it was sent. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface ScriptedServer {
  readonly url: string;
  readonly received: Received[];
  /** What the next requests get, in order; a request beyond the script gets a 418. */
  script(...steps: Step[]): void;
  close(): Promise<void>;
}

/** A client of the server; by default it makes one attempt. */
export function clientOf({ url }: ScriptedServer, options: Partial<ClientOptions> = {}) {
  return createClient({ ...CREDENTIALS, baseUrl: url, maxAttempts: 1, ...options });
}

/** An HTTP server that follows a test's script and records the requests it gets. */
export async function startScriptedServer(): Promise<ScriptedServer> {
  const received: Received[] = [];
  let steps: Step[] = [];
  const server = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request;
    received.push({ method, path, headers, body: (await buffer(request)).toString() });
    const step = steps.shift() ?? { status: 418 };
    if (step === 'hang') return;
    if (step === 'reset') return void request.socket.destroy();
    const body = typeof step.body === 'string' ? step.body : JSON.stringify(step.body ?? {});
    response.writeHead(step.status, step.headers).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    received,
    script(...next) {
      received.length = 0;
      steps = next;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
