import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Connections } from './connections.ts';

/**
 * How long a replica keeps serving after the signal to stop, in milliseconds. Meanwhile it reports that it is not
 * ready, so that a load balancer that checks every second stops using it well before its port closes.
 */
export const DRAIN_MS = 3_000;

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Keeps serving for `ms` milliseconds, but closes every connection after its response, so that clients move to
     * other replicas before this one closes.
     */
    drain(ms: number): Promise<void>;
  }
}

/** Makes `app.close()` respond to all requests that have arrived, and close idle connections. */
export function registerGracefulClose(app: FastifyInstance, connections: Connections): void {
  connections.follow(app.server);
  app.decorate('drain', async (ms: number) => {
    connections.drain();
    await sleep(ms);
  });
  // Before the same hook of Admission, which starts to read connections that this one still accepts.
  app.addHook('preClose', () => connections.close());
  app.addHook('onClose', async () => connections.stop());
}
