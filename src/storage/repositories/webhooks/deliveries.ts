import { sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { DeliveryStatus, WebhookDelivery } from '../../database/webhook-tables.ts';
import { findById, insertInto } from '../rows.ts';
import { isIn, monthsOf } from './event-months.ts';

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

/** Outcomes of deliveries that did not arrive, and that nobody will try again. */
const UNDELIVERED = ['failed', 'cancelled'] satisfies DeliveryStatus[];

/**
 * Deliveries of an endpoint since a time that have failed for good or were cancelled, unless their event was redelivered
 * to it since then: oldest first, at most `limit`.
 */
export async function listUndelivered(
  db: Connection,
  endpointId: string,
  since: Date,
  limit: number,
): Promise<DeliveryKey[]> {
  // Each outcome is a range of an index, of which no more than `limit` is read. What repeats a delivery may look older
  // than it, since the clocks of processes differ.
  const { rows } = await sql<DeliveryKey>`
    select id, event_id
    from unnest(${UNDELIVERED}::text[]) as outcome (status)
    cross join lateral (
      select id, event_id, created_at from webhook_deliveries as sent
      where endpoint_id = ${endpointId} and status = outcome.status and created_at >= ${since}
        and not exists (
          select from webhook_deliveries as again
          where again.event_id = sent.event_id and again.endpoint_id = sent.endpoint_id
            and again.redelivery_of is not null
            and (again.redelivery_of = sent.id
                 or (again.created_at, again.id) > (sent.created_at, sent.id)))
      order by created_at, id limit ${limit}) as sent
    order by created_at, id limit ${limit}`.execute(db);
  return rows;
}

/**
 * Deliveries of an endpoint that were cancelled since a time, unless they were redelivered: oldest first, at most
 * `limit`.
 */
export function listCancelled(
  db: Connection,
  endpointId: string,
  since: Date,
  limit: number,
): Promise<DeliveryKey[]> {
  return db
    .selectFrom('webhook_deliveries as cancelled')
    .select(['cancelled.id', 'cancelled.event_id'])
    .where('cancelled.endpoint_id', '=', endpointId)
    .where('cancelled.status', '=', 'cancelled')
    .where('cancelled.finished_at', '>=', since)
    .where(({ exists, not, selectFrom }) =>
      not(
        exists(
          selectFrom('webhook_deliveries as again')
            .select('again.id')
            .whereRef('again.event_id', '=', 'cancelled.event_id')
            .whereRef('again.redelivery_of', '=', 'cancelled.id'),
        ),
      ),
    )
    .orderBy('cancelled.created_at')
    .orderBy('cancelled.event_id')
    .limit(limit)
    .execute();
}

/**
 * Makes cancelled deliveries pending again, due now in the order given. Their attempts go on where they ended.
 */
export async function requeueDeliveries(
  db: Connection,
  rows: readonly DeliveryKey[],
  now: Date,
): Promise<void> {
  if (rows.length === 0) return;
  const months = monthsOf(rows.map(row => row.event_id));
  // A worker claims what was due first. All are due before what is made from now on.
  await sql`
    update webhook_deliveries as delivery
    set status = 'pending', finished_at = null,
        next_attempt_at = ${now}::timestamptz - (${rows.length} - place) * interval '1 millisecond'
    from unnest(${rows.map(row => row.id)}::uuid[]) with ordinality as given (id, place)
    where delivery.id = given.id and ${isIn('delivery.event_id', months)}`.execute(db);
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
