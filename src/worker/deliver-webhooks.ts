import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type JobHelpers, type Runner, run } from 'graphile-worker';
import { closeQueuePool, openQueuePool } from '../database/job-queue.ts';
import { queueLogger } from '../database/job-queue-log.ts';
import { DELIVERY_TASK, returnDeliveryJob } from '../repositories/webhook-jobs.ts';
import { attemptDelivery, type DeliveryDependencies } from '../webhooks/attempt-delivery.ts';
import { createEndpointSlots, type EndpointSlots, SLOTS } from '../webhooks/endpoint-slots.ts';
import { guardedConnector, type Resolve } from '../webhooks/guarded-connector.ts';
import { ATTEMPT_TIMEOUT_MS } from '../webhooks/send.ts';
import type { Loop } from './loop.ts';

export interface WebhookDependencies extends Omit<DeliveryDependencies, 'connect'> {
  readonly directUrl: string;
  /** Replaces the name servers in tests. */
  readonly resolve?: Resolve;
}

/** Pause before the queue is restarted after a failure, in milliseconds. */
const INTERVAL_MS = 1_000;
/** One connection listens; the others fetch and complete jobs, which takes a millisecond each. */
const POOL_SIZE = 4;
/** Poll interval of an idle slot, in milliseconds; new jobs are announced by notification. */
const POLL_INTERVAL_MS = 2_000;
/**
 * How long attempts may continue after the worker was stopped, in milliseconds; then they are
 * released. Most responses arrive sooner, and the process has 25 seconds to stop.
 */
const STOP_GRACE_MS = 5_000;
/** How long to wait for the queue to stop, in milliseconds; its own shutdown may hang forever. */
const STOP_TIMEOUT_MS = STOP_GRACE_MS + 5_000;

interface DeliveryJob {
  readonly deliveryId: string;
  readonly endpointId: string;
  readonly merchantId: string;
  readonly attempt: number;
}

/** Attempts deliveries when their jobs are due. One run lasts until the signal or a failure. */
export function deliverWebhooksLoop(dependencies: WebhookDependencies): Loop {
  return {
    name: 'deliver-webhooks',
    intervalMs: INTERVAL_MS,
    run: (signal, beat) => runQueue(dependencies, signal, beat),
  };
}

async function runQueue(
  dependencies: WebhookDependencies,
  signal: AbortSignal,
  beat: () => void,
): Promise<void> {
  const { directUrl, logger, resolve, allowPrivateAddresses } = dependencies;
  const connect = guardedConnector({
    allowPrivateAddresses,
    timeoutMs: ATTEMPT_TIMEOUT_MS,
    ...(resolve === undefined ? {} : { resolve }),
  });
  const slots = createEndpointSlots();
  const pool = openQueuePool(directUrl, POOL_SIZE, error =>
    logger.warn({ err: error }, 'job queue connection lost'),
  );
  const events = new EventEmitter();
  // Idle slots poll every two seconds, and busy ones complete a job within the attempt's timeout.
  events.on('worker:getJob:empty', beat);
  events.on('job:complete', beat);
  try {
    const runner = await run({
      pgPool: pool,
      events,
      concurrency: SLOTS,
      pollInterval: POLL_INTERVAL_MS,
      gracefulShutdownAbortTimeout: STOP_GRACE_MS,
      noHandleSignals: true,
      logger: queueLogger(logger),
      // If a connection breaks while a job completes, the unbatched code path leaves the rejection
      // unhandled, which ends the process. Batching makes it end the queue, which is restarted.
      preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
      forbiddenFlags: () => slots.exhausted(),
      // Otherwise a file named crontab in the working directory is read.
      parsedCronItems: [],
      taskList: {
        [DELIVERY_TASK]: (payload, helpers) =>
          runJob({ ...dependencies, connect }, slots, payload as DeliveryJob, helpers),
      },
    });
    await waitForEnd(runner, events, signal);
  } finally {
    await closeQueuePool(pool);
  }
}

/**
 * Stops the queue when the signal is aborted, and waits until it has ended.
 * @throws Error if it ended for another reason.
 */
async function waitForEnd(
  runner: Runner,
  events: EventEmitter,
  signal: AbortSignal,
): Promise<void> {
  const timeout = once(events, 'pool:gracefulShutdown').then(() =>
    sleep(STOP_TIMEOUT_MS, undefined, { ref: false }),
  );
  const stop = () => void runner.stop().catch(() => undefined);
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  try {
    await Promise.race([runner.promise, timeout]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
  if (!signal.aborted) throw new Error('the job queue ended unexpectedly');
}

async function runJob(
  dependencies: DeliveryDependencies,
  slots: EndpointSlots,
  { deliveryId, endpointId, merchantId, attempt }: DeliveryJob,
  { job, abortSignal }: JobHelpers,
): Promise<void> {
  // Slots that poll at the same moment may fetch more jobs of an endpoint than it has slots.
  const slot = slots.acquire({ endpointId, merchantId });
  if (slot === undefined) {
    const returned = { deliveryId, endpointId, attempt, runAt: job.run_at };
    await returnDeliveryJob(dependencies.db, returned);
    return;
  }
  let responseMs: number | undefined;
  try {
    responseMs = await attemptDelivery(dependencies, { deliveryId, attempt }, abortSignal);
  } finally {
    slot.release(responseMs);
  }
}
