import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Balancer {
  readonly url: string;
  /** Statuses it passed back, by how often. */
  readonly statuses: Map<number, number>;
  close(): Promise<void>;
}

/**
 * Hands each request to the next port in turn and, where the connection is refused and only then, to
 * the one after it: what was refused was not begun.
 */
export async function startBalancer(ports: readonly number[]): Promise<Balancer> {
  const statuses = new Map<number, number>();
  let turn = 0;
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    turn += 1;
    for (let tried = 0; tried < ports.length; tried++) {
      const port = ports[(turn + tried) % ports.length];
      try {
        const answer = await forward(incoming, Buffer.concat(chunks), port);
        const status = answer.statusCode ?? 0;
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        outgoing.writeHead(status, answer.headers);
        answer.pipe(outgoing);
        return;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED') break;
      }
    }
    outgoing.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    statuses,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function forward(
  { method, url, headers }: IncomingMessage,
  body: Buffer,
  port: number | undefined,
): Promise<IncomingMessage> {
  // A connection for each request: one that is kept may be closed just as it is used again.
  const onward = request({ host: '127.0.0.1', port, method, path: url, headers, agent: false });
  onward.end(body);
  const [answer] = await once(onward, 'response');
  return answer;
}
