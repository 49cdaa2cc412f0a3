import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type JobHelpers, type Runner, run } from 'graphile-worker';
import { closeQueuePool, openQueuePool } from '../database/job-queue.ts';
import { queueLogger } from '../database/job-queue-log.ts';
import { DELIVERY_TASK, returnDeliveryJob } from '../repositories/webhook-jobs.ts';
import { attemptDelivery, type DeliveryDependencies } from '../webhooks/deliver.ts';
import { createEndpointSlots, type EndpointSlots, SLOTS } from '../webhooks/endpoint-slots.ts';
import { guardedConnector, type Resolve } from '../webhooks/guarded-connector.ts';
import { ATTEMPT_TIMEOUT_MS } from '../webhooks/send.ts';
import type { Loop } from './loop.ts';

export interface WebhookDependencies extends Omit<DeliveryDependencies, 'connect'> {
  readonly directUrl: string;
  /** Stands in for the name servers. */
  readonly resolve?: Resolve;
}

/** Pause before the queue is taken up again after it failed, in milliseconds. */
const INTERVAL_MS = 1_000;
/** One connection listens; the others fetch and end jobs, which takes a millisecond each. */
const POOL_SIZE = 4;
/** How often each idle slot looks for jobs whose time has come; new jobs are told at once. */
const POLL_INTERVAL_MS = 2_000;
/**
 * How long attempts may go on after the worker was told to stop, in milliseconds; then they are left
 * to others. Most answers come sooner, and the process has 25 seconds.
 */
const STOP_GRACE_MS = 5_000;
/** How long the queue may take, in milliseconds, to end after that; it may wait for itself forever. */
const STOP_LATEST_MS = STOP_GRACE_MS + 5_000;

interface DeliveryJob {
  readonly deliveryId: string;
  readonly endpointId: string;
  readonly merchantId: string;
  readonly attempt: number;
}

/** Attempts deliveries as their jobs come due. One run lasts until the signal, or a failure. */
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
  // Idle slots ask the queue every two seconds, and busy ones end a job within an attempt's time.
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
      // Otherwise nobody handles the failure to end a job, when a connection breaks just then, and it
      // would end the process. With batches it ends the queue, which is started anew.
      preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
      forbiddenFlags: () => slots.exhausted(),
      // Without it a file named crontab in the working directory would be read.
      parsedCronItems: [],
      taskList: {
        [DELIVERY_TASK]: (payload, helpers) =>
          runJob({ ...dependencies, connect }, slots, payload as DeliveryJob, helpers),
      },
    });
    await untilEnded(runner, events, signal);
  } finally {
    await closeQueuePool(pool);
  }
}

/**
 * Waits for the queue's end, which the signal brings about or a failure.
 * @throws Error when the signal did not.
 */
async function untilEnded(
  runner: Runner,
  events: EventEmitter,
  signal: AbortSignal,
): Promise<void> {
  const latest = once(events, 'pool:gracefulShutdown').then(() =>
    sleep(STOP_LATEST_MS, undefined, { ref: false }),
  );
  const stop = () => void runner.stop().catch(() => undefined);
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  try {
    await Promise.race([runner.promise, latest]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
  if (!signal.aborted) throw new Error('the job queue ended by itself');
}

async function runJob(
  dependencies: DeliveryDependencies,
  slots: EndpointSlots,
  { deliveryId, endpointId, merchantId, attempt }: DeliveryJob,
  { job, abortSignal }: JobHelpers,
): Promise<void> {
  // Several slots that look at the same moment may find jobs of one endpoint, more than it may have.
  const slot = slots.take({ endpointId, merchantId });
  if (slot === undefined) {
    const place = { deliveryId, endpointId, attempt, runAt: job.run_at };
    await returnDeliveryJob(dependencies.db, place);
    return;
  }
  let answerMs: number | undefined;
  try {
    answerMs = await attemptDelivery(dependencies, { deliveryId, attempt }, abortSignal);
  } finally {
    slot.giveBack(answerMs);
  }
}
