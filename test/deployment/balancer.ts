import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Balancer {
  readonly url: string;
  /** Statuses it passed back, by how often. */
  readonly statuses: Map<number, number>;
  /** Why requests got no answer. */
  readonly failures: unknown[];
  /** Whether it hands requests to a port. */
  uses(port: number): boolean;
  close(): Promise<void>;
}

/** How often it asks each replica whether it is ready, in milliseconds. */
const CHECK_MS = 250;

/**
 * Hands each request to the next port that is ready and, where the connection is refused and only then, to
 * the one after it: what was refused was not begun.
 */
export async function startBalancer(ports: readonly number[]): Promise<Balancer> {
  const statuses = new Map<number, number>();
  const failures: unknown[] = [];
  const unready = new Set<number>();
  let isClosed = false;
  // One after the other: an answer that is late must not undo a later one.
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
  // A connection for each request: one that is kept may be closed just as it is used again.
  const onward = request({ host: '127.0.0.1', port, method, path: url, headers, agent: false });
  onward.end(body);
  const [answer] = await once(onward, 'response');
  return answer;
}
