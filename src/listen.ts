import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import type { FastifyInstance, FastifyListenOptions } from 'fastify';

interface Address {
  readonly host: string;
  /** 0 for any that is free. */
  readonly port: number;
}

export interface Listening {
  /** Takes no more connections, answers what the present ones have brought, and closes the application. */
  close(): Promise<void>;
}

/**
 * Sockets that listen on the one address, and so connections that are taken up in a turn of the event
 * loop: libuv accepts one of each. Turns are long while the service is overloaded; behind a thousand
 * connections that came at once, health checks waited for more than 8 s with one socket, and for half a
 * second with 16.
 */
export const SOCKETS = 16;

/** Only there may several sockets listen on one address, and the kernel spread connections over them. */
const SHARES_ADDRESSES = process.platform === 'linux';

/**
 * Serves an application on an address.
 * @throws Error EADDRINUSE and whatever else listening fails with.
 */
export async function listen(app: FastifyInstance, address: Address): Promise<Listening> {
  if (!SHARES_ADDRESSES) {
    await app.listen({ ...address });
    return { close: () => app.close() };
  }
  await refuseAddressInUse(address);
  const shared: FastifyListenOptions & { reusePort: true } = { ...address, reusePort: true };
  await app.listen(shared);
  const others: Server[] = [];
  const close = async () => {
    const closed = others.map(other => once(other.close(), 'close'));
    await Promise.all([app.close(), ...closed]);
  };
  try {
    const { port } = app.server.address() as AddressInfo;
    while (others.length < SOCKETS - 1) others.push(await listenBeside(app, { ...address, port }));
  } catch (error) {
    await close();
    throw error;
  }
  return { close };
}

/** The kernel would give a second service on the address a part of the connections of the first. */
async function refuseAddressInUse(address: Address): Promise<void> {
  const probe = createServer();
  await once(probe.listen({ ...address }), 'listening');
  await once(probe.close(), 'close');
}

async function listenBeside({ server }: FastifyInstance, address: Address): Promise<Server> {
  // As Node's own server of HTTP takes up connections.
  const other = createServer({ allowHalfOpen: true, noDelay: true });
  other.on('connection', socket => server.emit('connection', socket));
  await once(other.listen({ ...address, reusePort: true }), 'listening');
  return other;
}
