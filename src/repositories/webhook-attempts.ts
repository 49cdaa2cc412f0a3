import { type Insertable, sql } from 'kysely';
import type { Connection } from '../database/connection.ts';
import type {
  DeliveryStatus,
  WebhookAttempt,
  WebhookAttemptsTable,
  WebhookEndpoint,
} from '../database/tables.ts';
import { addDeliveryJob } from './webhook-jobs.ts';

/** One attempt at a delivery; the first has the number 1. */
export interface AttemptKey {
  readonly deliveryId: string;
  readonly attempt: number;
}

/** What an attempt sends, and where to. */
export interface ClaimedDelivery {
  endpoint: WebhookEndpoint;
  event: {
    id: string;
    type: string;
    createdAt: Date;
    /** The JSON text as it was written. */
    data: string;
    /** Headers of the trace of the request that caused it; null without one. */
    traceparent: string | null;
    tracestate: string | null;
  };
}

/**
 * Takes an attempt for one worker until `until`. Undefined when it has been made, when the delivery
 * has ended, or while another worker has it.
 */
export async function claimDelivery(
  db: Connection,
  { deliveryId, attempt }: AttemptKey,
  { now, until }: { now: Date; until: Date },
): Promise<ClaimedDelivery | undefined> {
  const row = await db
    .with('delivery', cte =>
      cte
        .updateTable('webhook_deliveries')
        .set({ claimed_until: until })
        .where('id', '=', deliveryId)
        .where('status', '=', 'pending')
        .where('attempts', '=', attempt - 1)
        .where(({ eb, or }) =>
          or([eb('claimed_until', 'is', null), eb('claimed_until', '<=', now)]),
        )
        .returning(['event_id', 'endpoint_id']),
    )
    .selectFrom('delivery')
    .innerJoin('events', 'events.id', 'delivery.event_id')
    .innerJoin('webhook_endpoints', 'webhook_endpoints.id', 'delivery.endpoint_id')
    .selectAll('webhook_endpoints')
    .select([
      'events.id as eventId',
      'events.type as eventType',
      'events.created_at as eventCreatedAt',
      'events.traceparent',
      'events.tracestate',
      sql<string>`events.data::text`.as('eventData'),
    ])
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { eventId: id, eventType: type, eventCreatedAt: createdAt, ...rest } = row;
  const { eventData: data, traceparent, tracestate, ...endpoint } = rest;
  return { endpoint, event: { id, type, createdAt, data, traceparent, tracestate } };
}

/** What becomes of a delivery after an attempt. */
export type Verdict =
  | { readonly status: 'pending'; readonly nextAttemptAt: Date }
  | { readonly status: Exclude<DeliveryStatus, 'pending'>; readonly finishedAt: Date };

/**
 * Logs an attempt and, unless another worker was faster, what becomes of the delivery: with the job
 * of the next attempt if there is to be one. One statement.
 */
export async function recordAttempt(
  db: Connection,
  row: Insertable<WebhookAttemptsTable>,
  verdict: Verdict,
): Promise<void> {
  const next = verdict.status === 'pending' ? verdict.nextAttemptAt : null;
  const finished = verdict.status === 'pending' ? null : verdict.finishedAt;
  await db
    .with('attempt', cte => cte.insertInto('webhook_attempts').values(row))
    .with('delivery', cte =>
      cte
        .updateTable('webhook_deliveries')
        .set({
          attempts: row.number,
          status: verdict.status,
          next_attempt_at: next,
          finished_at: finished,
          claimed_until: null,
        })
        .where('id', '=', row.delivery_id)
        .where('status', '=', 'pending')
        .where('attempts', '=', row.number - 1)
        .returningAll(),
    )
    .selectFrom('delivery')
    .select(addDeliveryJob(sql`delivery.next_attempt_at`).as('job'))
    .where('status', '=', 'pending')
    .execute();
}

/** Gives a claimed attempt back unmade, for any worker to make at once. */
export async function releaseDelivery(
  db: Connection,
  { deliveryId, attempt }: AttemptKey,
): Promise<void> {
  await db
    .with('delivery', cte =>
      cte
        .updateTable('webhook_deliveries')
        .set({ claimed_until: null })
        .where('id', '=', deliveryId)
        .where('status', '=', 'pending')
        .where('attempts', '=', attempt - 1)
        .returningAll(),
    )
    .selectFrom('delivery')
    .select(addDeliveryJob().as('job'))
    .execute();
}

/** Attempts at these deliveries, oldest first. @param limit How many at most. */
export function listAttempts(
  db: Connection,
  deliveryIds: readonly string[],
  limit: number,
): Promise<WebhookAttempt[]> {
  if (deliveryIds.length === 0) return Promise.resolve([]);
  return db
    .selectFrom('webhook_attempts')
    .selectAll()
    .where('delivery_id', 'in', deliveryIds)
    .orderBy('at')
    .orderBy('id')
    .limit(limit)
    .execute();
}
