import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import type { FastifyInstance, FastifyListenOptions } from 'fastify';

interface Address {
  readonly host: string;
  /** 0 for any that is free. */
  readonly port: number;
}

interface Listening extends Address {
  /** How many listen on it; `SOCKETS` unless told otherwise. */
  readonly sockets?: number;
}

/**
 * Sockets that listen on the one address, and so connections that are taken up in a turn of the event
 * loop: libuv accepts one of each. Turns are long while the service is overloaded. When a thousand
 * connections came at once to a process that had not been overloaded before, the slowest health check
 * waited for more than 8 s with one socket; with 16 for 1.0 to 1.9 s (four processes), with 64 for 0.4
 * to 1.0 s (eight) and with 256 for 0.3 to 0.5 s (four).
 */
export const SOCKETS = 256;

/** Elsewhere it is not tried whether several sockets may share an address. */
const SHARES_ADDRESSES = process.platform === 'linux';

/** How often connections that have nothing more to answer are looked for at the end, in milliseconds. */
const IDLE_CHECK_MS = 100;

/**
 * Serves an application on an address until it is closed, which takes no more connections and waits
 * for what is in flight on the present ones.
 * @throws Error EADDRINUSE and whatever else listening fails with.
 */
export async function listen(
  app: FastifyInstance,
  { sockets = SOCKETS, ...address }: Listening,
): Promise<void> {
  const others: Server[] = [];
  let closed: Promise<unknown>[] = [];
  let idleCheck: NodeJS.Timeout | undefined;
  app.addHook('preClose', async () => {
    closed = others.map(other => once(other.close(), 'close'));
    // Fastify looks for them once: one that was busy then would be kept for another request.
    idleCheck = setInterval(() => app.server.closeIdleConnections(), IDLE_CHECK_MS);
  });
  app.addHook('onClose', async () => {
    await Promise.all(closed);
    clearInterval(idleCheck);
  });
  if (!SHARES_ADDRESSES) {
    await app.listen({ ...address });
    return;
  }
  await app.ready();
  await refuseAddressInUse(address);
  const shared: FastifyListenOptions & { reusePort: true } = { ...address, reusePort: true };
  await app.listen(shared);
  const { address: host, port } = app.server.address() as AddressInfo;
  while (others.length < sockets - 1) others.push(await listenBeside(app, { host, port }));
}

/**
 * The kernel would give a second service of the same user a part of the connections of the first. Only
 * two that start within the same instant are not told from one.
 */
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
