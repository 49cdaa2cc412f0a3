import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WebhookEvent } from '#client/index.ts';

export interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly event: WebhookEvent;
}

/** Responds to a request in any way, or not at all. */
export type Answer = (response: ServerResponse, request: ReceivedRequest) => void;

/** A merchant's HTTP server that records the requests it gets. */
export interface Receiver {
  readonly url: string;
  readonly requests: ReceivedRequest[];
  /** How it responds from now on. */
  answer: Answer;
  /** Resolves when it has got this many requests. */
  received(count: number, timeoutMs?: number): Promise<void>;
  close(): Promise<void>;
}

/** Responds with a status, headers and a body. */
export function status(code: number, headers: Record<string, string> = {}, body = ''): Answer {
  return response => void response.writeHead(code, headers).end(body);
}

/** Never responds. */
export const stall: Answer = () => undefined;

export async function startReceiver(answer: Answer = status(200)): Promise<Receiver> {
  const requests: ReceivedRequest[] = [];
  const server = createServer(async (request, response) => {
    request.on('error', () => undefined);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const { url: path = '', headers } = request;
    const received = { path, headers, body, event: JSON.parse(body) };
    requests.push(received);
    receiver.answer(response, received);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const receiver: Receiver = {
    url: `http://127.0.0.1:${address.port}/hooks?shop=1`,
    requests,
    answer,
    async received(count, timeoutMs = 10_000) {
      const end = Date.now() + timeoutMs;
      while (requests.length < count) {
        if (Date.now() > end) throw new Error(`${requests.length} of ${count} requests came`);
        await sleep(10);
      }
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return receiver;
}
