import { sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { DeliveryStatus, WebhookDelivery } from '../../database/webhook-tables.ts';
import { countRows, type PageCursor } from '../rows.ts';
import { ALL_MONTHS, type IdRange, isIn, monthsOf } from './event-months.ts';

/** An endpoint, and the merchant that has to own it. */
export interface OwnEndpoint {
  readonly merchantId: string;
  readonly endpointId: string;
}

export interface DeliveryFilters {
  readonly status?: DeliveryStatus | undefined;
  /** Both inclusive. */
  readonly createdFrom?: Date | undefined;
  readonly createdTo?: Date | undefined;
}

/** A delivery, and what its event is about. */
export interface OwnDelivery extends WebhookDelivery {
  event_type: string;
  payment_id: string | null;
}

/** A delivery with the event that it sends. */
export interface DeliveredEvent extends OwnDelivery {
  event_created_at: Date;
  /** JSON, as it is sent. */
  event_data: string;
  /** The last delivery that repeated this one by hand. */
  redelivered_as: string | null;
}

function deliveriesOf(db: Connection, { merchantId, endpointId }: OwnEndpoint) {
  return db
    .selectFrom('webhook_deliveries as delivery')
    .innerJoin('events', 'events.id', 'delivery.event_id')
    .selectAll('delivery')
    .select(['events.type as event_type', 'events.payment_id'])
    .where('delivery.endpoint_id', '=', endpointId)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('webhook_endpoints')
          .select('id')
          .where('id', '=', endpointId)
          .where('merchant_id', '=', merchantId),
      ),
    );
}

/**
 * At most `limit` deliveries of a merchant's endpoint next to the cursor in its direction: newest first, but oldest
 * first for `newer`. Without a cursor, the newest. Empty unless the cursor is a delivery of the endpoint.
 */
export function listOwnDeliveries(
  db: Connection,
  endpoint: OwnEndpoint,
  { status, createdFrom, createdTo }: DeliveryFilters,
  cursor: PageCursor | undefined,
  limit: number,
): Promise<OwnDelivery[]> {
  const order = cursor?.direction === 'newer' ? 'asc' : 'desc';
  let query = deliveriesOf(db, endpoint);
  if (status !== undefined) query = query.where('status', '=', status);
  if (createdFrom !== undefined) query = query.where('delivery.created_at', '>=', createdFrom);
  if (createdTo !== undefined) query = query.where('delivery.created_at', '<=', createdTo);
  if (cursor !== undefined) {
    query = query.where(
      sql<boolean>`(delivery.created_at, delivery.id) ${sql.raw(order === 'asc' ? '>' : '<')} (
        select created_at, id from webhook_deliveries
        where id = ${cursor.id} and endpoint_id = ${endpoint.endpointId})`,
    );
  }
  return query
    .orderBy('delivery.created_at', order)
    .orderBy('delivery.id', order)
    .limit(limit)
    .execute();
}

/**
 * Undefined for a delivery of another merchant, as for a missing one. A delivery made with its event has an ID of the
 * same time, so the month of the ID is searched first; a delivery that repeats one by hand may be in an earlier month.
 */
export async function findOwnDelivery(
  db: Connection,
  endpoint: OwnEndpoint,
  id: string,
): Promise<DeliveredEvent | undefined> {
  return (
    (await findInMonths(db, endpoint, id, monthsOf([id]))) ??
    (await findInMonths(db, endpoint, id, ALL_MONTHS))
  );
}

function findInMonths(
  db: Connection,
  endpoint: OwnEndpoint,
  id: string,
  months: IdRange,
): Promise<DeliveredEvent | undefined> {
  return deliveriesOf(db, endpoint)
    .where('delivery.id', '=', id)
    .where(sql<boolean>`${isIn('delivery.event_id', months)}`)
    .where(sql<boolean>`${isIn('events.id', months)}`)
    .select(({ cast, selectFrom }) => [
      'events.created_at as event_created_at',
      cast<string>('events.data', 'text').as('event_data'),
      selectFrom('webhook_deliveries as again')
        .select('again.id')
        .whereRef('again.redelivery_of', '=', 'delivery.id')
        .where(sql<boolean>`${isIn('again.event_id', months)}`)
        .orderBy('again.created_at', 'desc')
        .orderBy('again.id', 'desc')
        .limit(1)
        .as('redelivered_as'),
    ])
    .executeTakeFirst();
}

/** The oldest pending delivery of an endpoint. */
export function findOldestPending(
  db: Connection,
  endpoint: OwnEndpoint,
): Promise<WebhookDelivery | undefined> {
  return deliveriesOf(db, endpoint)
    .where('status', '=', 'pending')
    .orderBy('delivery.created_at')
    .orderBy('delivery.id')
    .limit(1)
    .executeTakeFirst();
}

/** How many deliveries of an endpoint are pending, at most `limit`. */
export function countPending(
  db: Connection,
  { merchantId, endpointId }: OwnEndpoint,
  limit: number,
): Promise<number> {
  const pending = db
    .selectFrom('webhook_deliveries as delivery')
    .innerJoin('webhook_endpoints as endpoint', 'endpoint.id', 'endpoint_id')
    .select('delivery.id')
    .where('endpoint_id', '=', endpointId)
    .where('endpoint.merchant_id', '=', merchantId)
    .where('status', '=', 'pending')
    .orderBy('delivery.created_at')
    .orderBy('delivery.id')
    .limit(limit);
  return countRows(db.selectFrom(pending.as('pending')));
}
