import { type Insertable, sql } from 'kysely';
import type { Connection } from '../database/connection.ts';
import type {
  DeliveryStatus,
  WebhookAttempt,
  WebhookAttemptsTable,
  WebhookEndpoint,
} from '../database/tables.ts';
import { addDeliveryJob } from './webhook-jobs.ts';

export interface AttemptKey {
  readonly deliveryId: string;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
}

/** What an attempt sends, and where to. */
export interface ClaimedDelivery {
  endpoint: WebhookEndpoint;
  event: {
    id: string;
    type: string;
    createdAt: Date;
    /** JSON text, exactly as stored. */
    data: string;
    /** Trace headers of the request that caused the event; null without a trace. */
    traceparent: string | null;
    tracestate: string | null;
  };
}

/**
 * Claims an attempt for one worker until `until`.
 * @returns undefined if the attempt was made already, the delivery has ended, or another worker has
 * a valid claim.
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

/** New state of a delivery after an attempt. */
export type Verdict =
  | { readonly status: 'pending'; readonly nextAttemptAt: Date }
  | { readonly status: Exclude<DeliveryStatus, 'pending'>; readonly finishedAt: Date };

/**
 * Records an attempt, updates the delivery and adds the job of the next attempt, in one statement.
 * If another worker has already recorded this attempt number, only adds the attempt.
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

/** Releases the claim of an attempt that was not made, so that any worker can make it now. */
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

/** At most `limit` attempts of these deliveries, oldest first. */
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
