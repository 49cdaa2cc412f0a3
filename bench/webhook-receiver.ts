import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { verifyWebhook } from '#client/verify-webhook.ts';
import type { Resources } from './resources.ts';

/** The merchants' server, in the process of the bench, which has nothing else to do meanwhile. */
export interface WebhookReceiver {
  readonly url: string;
  /** When each event first arrived, by ID and in order, in milliseconds since the epoch. */
  readonly arrivals: Map<string, number>;
  /** Secrets of the endpoints by path. */
  readonly secrets: Map<string, string>;
  /** Why requests failed verification. */
  readonly wrong: unknown[];
  /** Waits for this many arrivals, or until nothing arrives for ten seconds. */
  received(count: number): Promise<void>;
}

const POLL_MS = 50;
const QUIET_MS = 10_000;

export async function startWebhookReceiver({ defer }: Resources): Promise<WebhookReceiver> {
  const arrivals = new Map<string, number>();
  const secrets = new Map<string, string>();
  const wrong: unknown[] = [];
  const server = createServer(async (request, response) => {
    const at = Date.now();
    try {
      const { headers, url: path = '' } = request;
      const body = await buffer(request);
      const { id } = verifyWebhook({ body, headers, secret: secrets.get(path) });
      if (!arrivals.has(id)) arrivals.set(id, at);
      response.writeHead(204).end();
    } catch (error) {
      wrong.push(error);
      response.writeHead(400).end();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  defer(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrivals,
    secrets,
    wrong,
    async received(count) {
      let last = { count: -1, at: 0 };
      while (arrivals.size < count) {
        if (arrivals.size > last.count) last = { count: arrivals.size, at: Date.now() };
        if (Date.now() - last.at > QUIET_MS) return;
        await sleep(POLL_MS);
      }
    },
  };
}
