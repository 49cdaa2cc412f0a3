import { type RawBuilder, sql } from 'kysely';
import { DELIVERIES_SHOWN } from '#schemas/list-events.ts';
import type { Connection } from '../../database/connection.ts';
import type { WebhookDelivery } from '../../database/webhook-tables.ts';
import { isIn, monthsOf } from './event-months.ts';

export interface EventFilters {
  /** None is more than all of them. */
  readonly types: readonly string[];
  readonly paymentId?: string | undefined;
  /** Both inclusive. */
  readonly createdFrom?: Date | undefined;
  readonly createdTo?: Date | undefined;
  /** Only those that an endpoint has not taken. */
  readonly undelivered: boolean;
}

export interface EventPage {
  readonly oldestFirst: boolean;
  /** After which the page begins: ID of an event of the merchant, or a time. */
  readonly beyond: string | Date | undefined;
  readonly limit: number;
}

/** An event, with its data exactly as it is sent. */
export interface MerchantEvent {
  readonly id: string;
  readonly type: string;
  readonly createdAt: Date;
  /** JSON text. */
  readonly data: string;
}

/**
 * At most `limit` events of a merchant. Empty if `beyond` is an ID that none of them has.
 *
 * Each type, and each endpoint and type, is a range of an index, of which no more than a page is read. The
 * events of a payment are few. No other index fits the conditions, so that no statistics change the plan; `offset 0`
 * keeps the conditions outside from choosing one.
 */
export async function listMerchantEvents(
  db: Connection,
  merchantId: string,
  filters: EventFilters,
  page: EventPage,
): Promise<MerchantEvent[]> {
  const range = rangeOf(merchantId, filters, page);
  const { undelivered, paymentId } = filters;
  const found =
    paymentId !== undefined
      ? ofPayment(merchantId, paymentId, undelivered, range)
      : undelivered
        ? untaken(merchantId, range)
        : ofMerchant(merchantId, range);
  const { rows } = await sql<MerchantEvent>`
    select id, type, created_at as "createdAt", data::text as data from (${found}) as found
    order by created_at ${range.order}, id ${range.order} limit ${page.limit}`.execute(db);
  return rows;
}

/** What the queries below have in common. */
interface Range {
  readonly types: readonly string[];
  readonly order: RawBuilder<unknown>;
  readonly limit: number;
  /** Whether something is on the page, by the columns with its time and the ID of its event. */
  includes(createdAt: string, id: string): RawBuilder<unknown>;
}

function rangeOf(
  merchantId: string,
  { types, createdFrom, createdTo }: EventFilters,
  { oldestFirst, beyond, limit }: EventPage,
): Range {
  const further = sql.raw(oldestFirst ? '>' : '<');
  return {
    types,
    order: sql.raw(oldestFirst ? 'asc' : 'desc'),
    limit,
    includes(createdAt, id) {
      const [at, key] = [sql.ref(createdAt), sql.ref(id)];
      const bounds = [sql`true`];
      if (createdFrom !== undefined) bounds.push(sql`${at} >= ${createdFrom}`);
      if (createdTo !== undefined) bounds.push(sql`${at} <= ${createdTo}`);
      if (beyond instanceof Date) bounds.push(sql`${at} ${further} ${beyond}`);
      else if (beyond !== undefined) {
        bounds.push(sql`
          (${at}, ${key}) ${further} (
            select created_at, id from events
            where id = ${beyond} and ${isIn('id', monthsOf([beyond]))} and merchant_id = ${merchantId})`);
      }
      return sql.join(bounds, sql` and `);
    },
  };
}

function ofMerchant(merchantId: string, { types, order, limit, includes }: Range) {
  return sql`
    select event.* from unnest(${types}::text[]) as wanted (type)
    cross join lateral (
      select id, type, created_at, data from events
      where merchant_id = ${merchantId} and type = wanted.type
        and ${includes('events.created_at', 'events.id')}
      order by created_at ${order}, id ${order} limit ${limit}) as event`;
}

function ofPayment(
  merchantId: string,
  paymentId: string,
  undelivered: boolean,
  { types, includes }: Range,
) {
  // With `exists` PostgreSQL may read the index of all untaken deliveries for it.
  const isUntaken = sql`(
    select bool_or(untaken_type is not null) from webhook_deliveries where event_id = events.id)`;
  return sql`
    select id, type, created_at, data
    from (select * from events where payment_id = ${paymentId} offset 0) as events
    where merchant_id = ${merchantId} and type = any(${types})
      and ${includes('events.created_at', 'events.id')} and ${undelivered ? isUntaken : sql`true`}`;
}

/** A delivery that was made with its event has the event's time. One index alone has endpoints' IDs as text. */
function untaken(merchantId: string, { types, order, limit, includes }: Range) {
  return sql`
    select event.* from (
      select distinct sent.created_at, sent.event_id
      from webhook_endpoints as endpoint
      cross join unnest(${types}::text[]) as wanted (type)
      cross join lateral (
        select created_at, event_id from webhook_deliveries
        where endpoint_id::text = endpoint.id::text and untaken_type = wanted.type
          and ${includes('webhook_deliveries.created_at', 'webhook_deliveries.event_id')}
        order by created_at ${order}, event_id ${order} limit ${limit}) as sent
      where endpoint.merchant_id = ${merchantId}
      order by sent.created_at ${order}, sent.event_id ${order} limit ${limit}) as sent
    cross join lateral (
      select id, type, created_at, data from events where id = sent.event_id offset 0) as event`;
}

/** Undefined for another merchant's event, as for a missing one. */
export async function findMerchantEvent(
  db: Connection,
  merchantId: string,
  id: string,
): Promise<MerchantEvent | undefined> {
  return db
    .selectFrom('events')
    .select(['id', 'type', 'created_at as createdAt'])
    .select(({ cast }) => cast<string>('data', 'text').as('data'))
    .where('id', '=', id)
    .where('merchant_id', '=', merchantId)
    .where(sql<boolean>`${isIn('id', monthsOf([id]))}`)
    .executeTakeFirst();
}

/** The newest deliveries of each event, at most DELIVERIES_SHOWN of one, newest first. */
export async function listDeliveriesOf(
  db: Connection,
  eventIds: readonly string[],
): Promise<WebhookDelivery[]> {
  if (eventIds.length === 0) return [];
  const { rows } = await sql<WebhookDelivery>`
    select delivery.* from unnest(${eventIds}::uuid[]) as event (id)
    cross join lateral (
      select * from webhook_deliveries
      where event_id = event.id and ${isIn('event_id', monthsOf(eventIds))}
      order by created_at desc, id desc limit ${DELIVERIES_SHOWN}) as delivery
    order by delivery.created_at desc, delivery.id desc`.execute(db);
  return rows;
}
