import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Connections } from './connections.ts';

/**
 * How long a replica goes on serving once it is told to stop, in milliseconds. It is not ready meanwhile:
 * a balancer that asks each second has taken it out well before its port closes.
 */
export const DRAIN_MS = 3_000;

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Serves on as before for so long, but closes every connection after its answer, so that clients
     * turn to other replicas before this one closes.
     * @param ms Milliseconds.
     */
    drain(ms: number): Promise<void>;
  }
}

/** Makes `app.close()` answer whatever has arrived, and wait for no connection that its client keeps. */
export function registerGracefulClose(app: FastifyInstance, connections: Connections): void {
  connections.follow(app.server);
  app.decorate('drain', async (ms: number) => {
    connections.drain();
    await sleep(ms);
  });
  app.addHook('preClose', async () => connections.close());
  app.addHook('onClose', async () => connections.stop());
}
