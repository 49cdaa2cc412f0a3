import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A proxy between an application and PostgreSQL that breaks the connection where work takes effect. */
export interface CuttingProxy {
  readonly url: string;
  /**
   * Breaks the connection at the next commit, or the next creation in a single statement, before the
   * server sees it or after it has executed it.
   */
  cutAtCommit(when: 'before' | 'after'): void;
  /** Breaks the connection at the next statement that contains the text. */
  cutAt(text: string, when: 'before' | 'after'): void;
  close(): Promise<void>;
}

const EFFECTS = [Buffer.from('commit\0'), Buffer.from('create_payment')];

export async function startCuttingProxy(databaseUrl: string): Promise<CuttingProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let cut: { when: 'before' | 'after'; effects: Buffer[] } | undefined;

  const proxy = createServer(client => {
    const server = connect(Number(target.port), target.hostname);
    let responseCut = false;
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    client.on('data', chunk => {
      if (cut?.effects.some(effect => chunk.includes(effect))) {
        const { when } = cut;
        cut = undefined;
        if (when === 'before') return client.destroy();
        responseCut = true;
      }
      server.write(chunk);
    });
    server.on('data', chunk => (responseCut ? client.destroy() : client.write(chunk)));
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const address = proxy.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String(address.port);
  return {
    url: url.href,
    cutAtCommit(when) {
      cut = { when, effects: EFFECTS };
    },
    cutAt(text, when) {
      cut = { when, effects: [Buffer.from(text)] };
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}
