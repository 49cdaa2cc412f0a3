import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A connection to a server that can be cut and reopened. */
export interface TcpProxy {
  readonly port: number;
  /** Ends every connection and refuses new ones. */
  cut(): Promise<void>;
  /** Forwards no more bytes, while every connection stays open. */
  freeze(): void;
  /** Accepts new connections without forwarding anything. */
  hold(): void;
  /** Accepts connections again. */
  open(): Promise<void>;
}

/** Forwards connections to a server on 127.0.0.1 or another host. */
export async function startTcpProxy(host: string, port: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let holding = false;
  const server = createServer(client => {
    if (holding) {
      sockets.add(client.on('error', () => undefined));
      return;
    }
    const upstream = connect(port, host);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.pipe(other);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const own = (server.address() as AddressInfo).port;
  return {
    port: own,
    async cut() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.resetAndDestroy();
      await closed;
    },
    freeze() {
      for (const socket of sockets) socket.unpipe().pause();
    },
    hold() {
      holding = true;
    },
    async open() {
      holding = false;
      if (server.listening) return;
      server.listen(own, '127.0.0.1');
      await once(server, 'listening');
    },
  };
}
