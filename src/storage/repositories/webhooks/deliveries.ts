import { sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { WebhookDelivery } from '../../database/webhook-tables.ts';
import { findById, insertInto } from '../rows.ts';

/** A delivery and its event; the event's month is the delivery's partition. */
type DeliveryKey = Pick<WebhookDelivery, 'id' | 'event_id'>;

/** Cancels pending deliveries: one, or all of an endpoint except one. */
export async function cancelDeliveries(
  db: Connection,
  which: DeliveryKey | { endpointId: string; except?: string | undefined },
  now: Date,
): Promise<void> {
  let update = db
    .updateTable('webhook_deliveries')
    .set({ status: 'cancelled', next_attempt_at: null, claimed_until: null, finished_at: now })
    .where('status', '=', 'pending');
  if ('id' in which) {
    update = update.where('id', '=', which.id).where('event_id', '=', which.event_id);
  } else {
    update = update.where('endpoint_id', '=', which.endpointId);
    if (which.except !== undefined) update = update.where('id', '!=', which.except);
  }
  await update.execute();
}

export const findDelivery = findById('webhook_deliveries');

export const insertRedelivery = insertInto('webhook_deliveries');

/**
 * Deliveries of an endpoint since a time that have failed for good, unless their event was redelivered to it since
 * then: oldest first, at most `limit`.
 */
export function listUndelivered(
  db: Connection,
  endpointId: string,
  since: Date,
  limit: number,
): Promise<Pick<WebhookDelivery, 'id' | 'event_id'>[]> {
  return db
    .selectFrom('webhook_deliveries as failed')
    .select(['failed.id', 'failed.event_id'])
    .where('failed.endpoint_id', '=', endpointId)
    .where('failed.status', '=', 'failed')
    .where('failed.created_at', '>=', since)
    .where(({ exists, not, selectFrom }) =>
      not(
        exists(
          selectFrom('webhook_deliveries as again')
            .select('again.id')
            .whereRef('again.event_id', '=', 'failed.event_id')
            .whereRef('again.endpoint_id', '=', 'failed.endpoint_id')
            .where('again.redelivery_of', 'is not', null)
            .where(sql<boolean>`(again.created_at, again.id) > (failed.created_at, failed.id)`),
        ),
      ),
    )
    .orderBy('failed.created_at')
    .orderBy('failed.id')
    .limit(limit)
    .execute();
}

/** Inserts deliveries to an endpoint, due now, that repeat others. */
export async function insertRedeliveries(
  db: Connection,
  rows: readonly Pick<WebhookDelivery, 'id' | 'event_id' | 'redelivery_of'>[],
  { endpointId, now }: { readonly endpointId: string; readonly now: Date },
): Promise<void> {
  await sql`
    insert into webhook_deliveries
      (id, event_id, endpoint_id, redelivery_of, next_attempt_at, created_at)
    select id, event_id, ${endpointId}, redelivery_of, ${now}, ${now}
    from unnest(${rows.map(row => row.id)}::uuid[], ${rows.map(row => row.event_id)}::uuid[],
                ${rows.map(row => row.redelivery_of)}::uuid[]) as given (id, event_id, redelivery_of)`.execute(
    db,
  );
}

export type DeliveryWithEventType = WebhookDelivery & { event_type: string };

/** At most `limit` deliveries of an endpoint, newest first, or the one with the ID. */
export function listDeliveries(
  db: Connection,
  which: DeliveryKey | { endpointId: string },
  limit: number,
): Promise<DeliveryWithEventType[]> {
  const query = db
    .selectFrom('webhook_deliveries')
    .innerJoin('events', 'events.id', 'webhook_deliveries.event_id')
    .selectAll('webhook_deliveries')
    .select('events.type as event_type')
    .orderBy('webhook_deliveries.created_at', 'desc')
    .orderBy('webhook_deliveries.id', 'desc')
    .limit(limit);
  if ('id' in which) {
    return query
      .where('webhook_deliveries.id', '=', which.id)
      .where('webhook_deliveries.event_id', '=', which.event_id)
      .where('events.id', '=', which.event_id)
      .execute();
  }
  return query.where('endpoint_id', '=', which.endpointId).execute();
}
