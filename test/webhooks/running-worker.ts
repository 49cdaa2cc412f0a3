import { deliverWebhooksLoop } from '../../src/worker/deliver-webhooks.ts';
import { runLoop } from '../../src/worker/loop.ts';
import { recoverWebhooksLoop } from '../../src/worker/recover-webhooks.ts';
import type { Shop } from './shop.ts';

export interface RunningWorker {
  /** Tells it to stop; resolves when it has. */
  stop(): Promise<void>;
}

/** Runs what the worker does for webhooks, inside this process. */
export function startWorker({ db, databaseUrl, clock, keyring, logger }: Shop): RunningWorker {
  const controller = new AbortController();
  const { signal } = controller;
  const dependencies = {
    db,
    directUrl: databaseUrl,
    clock,
    keyring,
    logger,
    allowPrivateAddresses: true,
  };
  const loops = [deliverWebhooksLoop(dependencies), recoverWebhooksLoop(db, clock)];
  const ended = Promise.all(loops.map(loop => runLoop(loop, logger, signal)));
  return {
    async stop() {
      controller.abort();
      await ended;
    },
  };
}
