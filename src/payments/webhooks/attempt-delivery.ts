import { setTimeout as sleep } from 'node:timers/promises';
import { Counter, Histogram } from 'prom-client';
import { newId } from '#crypto/new-id.ts';
import type { Database } from '#storage/database/connection.ts';
import { isDatabaseUnavailable } from '#storage/database/errors.ts';
import type { ConfirmedRestore } from '#storage/repositories/restores.ts';
import {
  type NewAttempt,
  recordAttempt,
  releaseDelivery,
  type Verdict,
} from '#storage/repositories/webhooks/attempts.ts';
import type { ClaimedDelivery } from '#storage/repositories/webhooks/claims.ts';
import { cancelDeliveries } from '#storage/repositories/webhooks/deliveries.ts';
import { lockWebhookEndpoint } from '#storage/repositories/webhooks/endpoints.ts';
import { mayHaveBeenTold, withholdDelivery } from '#storage/repositories/webhooks/withheld.ts';
import { traceIdOf } from '#telemetry/trace-context.ts';
import type { Clock } from '#time/clock.ts';
import { disableEndpoint } from './change-endpoint.ts';
import { nextAttemptAt } from './retry-schedule.ts';
import { ATTEMPT_TIMEOUT_MS, type AttemptOutcome } from './send.ts';
import { type SendDependencies, sendEvent } from './send-event.ts';

export interface DeliveryDependencies extends SendDependencies {
  readonly db: Database;
  readonly clock: Clock;
  /** The restore that the database goes back to; null if it was never restored. */
  readonly restore?: () => ConfirmedRestore | null;
}

/**
 * How long a delivery is claimed, in milliseconds: the timeout of an attempt, and time to record it.
 * The claim of a worker that died runs out, and another worker makes the attempt again.
 */
export const CLAIM_MS = ATTEMPT_TIMEOUT_MS + 10_000;
/** Pause before an attempt that could not be recorded is recorded again, in milliseconds. */
const RECORD_AGAIN_MS = 500;
const GONE = 410;

/** Up to the 15 seconds that an endpoint has. */
const DURATION_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];

const webhookAttempts = new Counter({
  name: 'eps_webhook_attempts_total',
  help: 'Attempts at deliveries, by what became of the delivery and the class of the answer',
  labelNames: ['outcome', 'response'],
});
const webhookAttemptSeconds = new Histogram({
  name: 'eps_webhook_attempt_duration_seconds',
  help: 'Time that an attempt at a delivery took',
  buckets: DURATION_BUCKETS,
});

/** Label of the attempts counter by the delivery's new status. */
const OUTCOME_LABELS: Readonly<Record<Verdict['status'], string>> = {
  pending: 'retried',
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'cancelled',
};

/**
 * Makes one attempt at a claimed delivery, records it and updates the delivery.
 * @param signal Aborted when the worker stops; releases an attempt that has no response yet.
 * @returns The endpoint's response time in milliseconds; undefined if there was no attempt.
 * @throws Error if the attempt could not be recorded; it is then made again when the claim runs out.
 */
export async function attemptDelivery(
  dependencies: DeliveryDependencies,
  claimed: ClaimedDelivery,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { db, clock } = dependencies;
  const now = new Date(clock());
  if (claimed.endpoint.disabled_at !== null) {
    await cancelOfDisabled(db, claimed, now);
    return undefined;
  }
  const restore = dependencies.restore?.() ?? null;
  const isFirst = claimed.attempt === 1;
  if (restore !== null && isFirst && (await mayHaveBeenTold(db, claimed, restore))) {
    await withholdDelivery(db, claimed, now);
    return undefined;
  }
  let outcome: AttemptOutcome;
  const started = performance.now();
  try {
    outcome = await sendEvent(dependencies, claimed, now, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    await releaseDelivery(db, claimed);
    return undefined;
  }
  const durationMs = Math.round(performance.now() - started);
  await complete(dependencies, claimed, outcome, { at: now, durationMs, signal });
  return durationMs;
}

/** Cancels a delivery whose endpoint is disabled, or releases it if that was enabled since the claim. */
function cancelOfDisabled(
  db: Database,
  { deliveryId, endpoint, event, attempt }: ClaimedDelivery,
  now: Date,
): Promise<void> {
  return db.transaction().execute(async tx => {
    // What is cancelled after the endpoint was enabled would not be queued again.
    const disabledAt = (await lockWebhookEndpoint(tx, endpoint.id))?.disabled_at ?? null;
    if (disabledAt === null) return releaseDelivery(tx, { deliveryId, event, attempt });
    // Enabling finds what was cancelled since then, and this process's clock may be behind.
    const at = now < disabledAt ? disabledAt : now;
    await cancelDeliveries(tx, { id: deliveryId, event_id: event.id }, at);
  });
}

async function complete(
  dependencies: DeliveryDependencies,
  claimed: ClaimedDelivery,
  outcome: AttemptOutcome,
  { at, durationMs, signal }: { at: Date; durationMs: number; signal: AbortSignal },
): Promise<void> {
  const { db, clock, logger } = dependencies;
  const { deliveryId, attempt: number, claimedUntil, endpoint, event } = claimed;
  const now = new Date(clock());
  const verdict = judge(outcome, number, now);
  const { statusCode, error } = outcome;
  const traceId = traceIdOf(event.traceparent);
  const context = {
    deliveryId,
    endpointId: endpoint.id,
    attempt: number,
    statusCode,
    durationMs,
    ...(traceId === null ? {} : { traceId }),
  };
  const row = {
    id: newId(),
    delivery_id: deliveryId,
    number,
    at,
    duration_ms: durationMs,
    status_code: statusCode,
    error,
    response_excerpt: outcome.excerpt,
  };
  const record = () =>
    statusCode === GONE
      ? recordGone(dependencies, claimed, row, verdict)
      : recordAttempt(db, event.id, row, verdict);
  await whileUnavailable(record, { signal, stillClaimed: () => clock() < claimedUntil.getTime() });
  webhookAttempts.inc({
    outcome: OUTCOME_LABELS[verdict.status],
    response: responseClass(statusCode),
  });
  webhookAttemptSeconds.observe(durationMs / 1000);
  logger.info({ ...context, error, outcome: verdict.status }, 'webhook attempted');
}

/** Records an attempt whose response was 410, and disables the endpoint. */
function recordGone(
  { db, clock }: DeliveryDependencies,
  { endpoint, event }: ClaimedDelivery,
  row: NewAttempt,
  verdict: Verdict,
): Promise<void> {
  return db.transaction().execute(async tx => {
    // Lock first: concurrent attempts at this endpoint wait here instead of on single deliveries.
    const current = await lockWebhookEndpoint(tx, endpoint.id);
    if (current?.disabled_at === null) {
      const operator = { db: tx, clock, actor: 'worker' };
      await disableEndpoint(operator, endpoint.id, 'answered-gone', row.delivery_id);
    }
    await recordAttempt(tx, event.id, row, verdict);
  });
}

/** Repeats `record` while the database is unavailable and the claim lasts: the webhook was sent. */
async function whileUnavailable(
  record: () => Promise<void>,
  { signal, stillClaimed }: { signal: AbortSignal; stillClaimed: () => boolean },
): Promise<void> {
  for (;;) {
    try {
      return await record();
    } catch (error) {
      if (signal.aborted || !stillClaimed() || !isDatabaseUnavailable(error)) throw error;
    }
    await sleep(RECORD_AGAIN_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** `2xx` and so on; `none` without a response. */
function responseClass(statusCode: number | null): string {
  return statusCode === null ? 'none' : `${Math.floor(statusCode / 100)}xx`;
}

function judge({ statusCode, retryAfterMs }: AttemptOutcome, number: number, now: Date): Verdict {
  if (statusCode !== null && statusCode >= 200 && statusCode <= 299) {
    return { status: 'succeeded', finishedAt: now };
  }
  const next = statusCode === GONE ? undefined : nextAttemptAt(number, now, retryAfterMs);
  if (next === undefined) return { status: 'failed', finishedAt: now };
  return { status: 'pending', nextAttemptAt: next };
}
