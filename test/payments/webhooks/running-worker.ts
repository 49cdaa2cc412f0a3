import { deliverWebhooksLoop } from '#worker/deliver-webhooks.ts';
import { runLoop } from '#worker/loop.ts';
import type { Shop } from './shop.ts';

export interface RunningWorker {
  /** Stops it; resolves when it has ended. */
  stop(): Promise<void>;
}

/** Runs the worker's webhook tasks inside this process. */
export function startWorker({ db, keyring, logger }: Shop): RunningWorker {
  const controller = new AbortController();
  const { signal } = controller;
  const loop = deliverWebhooksLoop({
    db,
    clock: Date.now,
    keyring,
    logger,
    allowPrivateAddresses: true,
  });
  const ended = runLoop(loop, logger, signal);
  return {
    async stop() {
      controller.abort();
      await ended;
    },
  };
}
