import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Balancer {
  readonly url: string;
  /** Number of responses that it forwarded, by status. */
  readonly statuses: Map<number, number>;
  /** Why requests got no response. */
  readonly failures: unknown[];
  /** Whether it sends requests to a port. */
  uses(port: number): boolean;
  close(): Promise<void>;
}

/** How often it checks the readiness of each replica, in milliseconds. */
const CHECK_MS = 250;

/**
 * Sends each request to the next port that is ready and, only if the connection is refused, to the one after
 * it: a request that was refused has not been executed.
 */
export async function startBalancer(ports: readonly number[]): Promise<Balancer> {
  const statuses = new Map<number, number>();
  const failures: unknown[] = [];
  const unready = new Set<number>();
  let isClosed = false;
  // One after the other: a late response must not override a newer one.
  const checks = ports.map(async port => {
    while (!isClosed) {
      if (await isReady(port)) unready.delete(port);
      else unready.add(port);
      await sleep(CHECK_MS);
    }
  });
  let turn = 0;
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    turn += 1;
    let failure: unknown = 'no replica is ready';
    const [first, second] = [ports.slice(turn % ports.length), ports.slice(0, turn % ports.length)];
    for (const port of [...first, ...second].filter(each => !unready.has(each))) {
      try {
        const answer = await forward(incoming, Buffer.concat(chunks), port);
        const status = answer.statusCode ?? 0;
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        outgoing.writeHead(status, answer.headers);
        answer.pipe(outgoing);
        return;
      } catch (error) {
        failure = error;
        if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED') break;
      }
    }
    failures.push(failure);
    outgoing.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    statuses,
    failures,
    uses: which => !unready.has(which),
    async close() {
      isClosed = true;
      await Promise.all(checks);
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function isReady(port: number): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(10 * CHECK_MS);
    return (await fetch(`http://127.0.0.1:${port}/readyz`, { signal })).ok;
  } catch {
    return false;
  }
}

async function forward(
  { method, url, headers }: IncomingMessage,
  body: Buffer,
  port: number,
): Promise<IncomingMessage> {
  // One connection per request: a reused one may be closed at that moment.
  const onward = request({ host: '127.0.0.1', port, method, path: url, headers, agent: false });
  onward.end(body);
  const [answer] = await once(onward, 'response');
  return answer;
}
