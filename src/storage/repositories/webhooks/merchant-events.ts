import { type RawBuilder, sql } from 'kysely';
import { DELIVERIES_SHOWN } from '#schemas/list-events.ts';
import type { Connection } from '../../database/connection.ts';
import { type Given, type Prepared, prepare } from '../../database/prepared.ts';
import type { WebhookDelivery } from '../../database/webhook-tables.ts';
import type { NewEvent } from '../payments/events.ts';
import { boundsOf, FIRST_ID, isBetween, LAST_ID, monthsOf } from './event-months.ts';

export interface EventFilters {
  /** One type, or all of them. */
  readonly types: readonly string[];
  readonly paymentId?: string | undefined;
  /** Both inclusive. */
  readonly createdFrom?: Date | undefined;
  readonly createdTo?: Date | undefined;
  /** Only events that an endpoint has not accepted. */
  readonly undelivered: boolean;
}

/** A page begins after this event, in the order of time and ID. */
export interface EventCursor {
  readonly createdAt: Date;
  readonly id: string;
}

interface EventPage {
  readonly oldestFirst: boolean;
  readonly beyond: EventCursor | undefined;
  readonly limit: number;
}

/** An event, with its data exactly as it is sent. */
export type MerchantEvent = Pick<NewEvent, 'id' | 'type' | 'createdAt' | 'data'>;

/**
 * At most `limit` events of a merchant.
 *
 * Each type, and each endpoint and type, is a range of an index, of which at most a page is read. A payment has few
 * events. No other index fits the conditions, so no statistics can change the plan; `offset 0` keeps the outer
 * conditions from choosing another index.
 */
export function listMerchantEvents(
  db: Connection,
  merchantId: string,
  { types, paymentId, createdFrom, createdTo, undelivered }: EventFilters,
  { oldestFirst, beyond, limit }: EventPage,
): Promise<MerchantEvent[]> {
  const values = {
    merchantId,
    types,
    undelivered,
    limit,
    from: createdFrom ?? '-infinity',
    to: createdTo ?? 'infinity',
    beyondAt: beyond?.createdAt ?? (oldestFirst ? '-infinity' : 'infinity'),
    beyondId: beyond?.id ?? (oldestFirst ? FIRST_ID : LAST_ID),
  };
  const pages = oldestFirst ? OLDEST_FIRST : NEWEST_FIRST;
  if (paymentId !== undefined) return pages.ofPayment(db, { ...values, paymentId });
  return undelivered ? pages.untaken(db, values) : pages.ofMerchant(db, values);
}

interface PageValues {
  readonly merchantId: string;
  readonly types: readonly string[];
  readonly undelivered: boolean;
  readonly limit: number;
  /** Inclusive bounds, infinite where there is none. */
  readonly from: Date | string;
  readonly to: Date | string;
  /** Both exclusive. */
  readonly beyondAt: Date | string;
  readonly beyondId: string;
}

/** What the pages of one order have in common. */
interface Range<P extends PageValues = PageValues> {
  readonly given: Given<P>;
  readonly order: RawBuilder<unknown>;
  /** The condition that a row is on the page, by its columns with the time and the event's ID. */
  includes(createdAt: string, id: string): RawBuilder<unknown>;
}

type PageQuery<P extends PageValues = PageValues> = (range: Range<P>) => RawBuilder<unknown>;

const [NEWEST_FIRST, OLDEST_FIRST] = [preparePages('desc'), preparePages('asc')];

/** Prepared, so that each connection plans a page once: planning for all months takes longer than reading a page. */
function preparePages(direction: 'asc' | 'desc') {
  const order = sql.raw(direction);
  const further = sql.raw(direction === 'asc' ? '>' : '<');
  const page = <P extends PageValues>(
    name: string,
    query: PageQuery<P>,
  ): Prepared<P, MerchantEvent> =>
    prepare(`${name}_${direction}`, (_, given: Given<P>) => {
      const includes = (createdAt: string, id: string) => sql`
        ${sql.ref(createdAt)} >= ${given('from')}::timestamptz
        and ${sql.ref(createdAt)} <= ${given('to')}::timestamptz
        and (${sql.ref(createdAt)}, ${sql.ref(id)}) ${further} (
          ${given('beyondAt')}::timestamptz, ${given('beyondId')}::uuid)`;
      return sql<MerchantEvent>`
        select id, type, created_at as "createdAt", data::text as data
        from (${query({ given, order, includes })}) as found
        order by created_at ${order}, id ${order} limit ${given('limit')}::integer`;
    });
  return {
    ofMerchant: page('events', ofMerchant),
    untaken: page('untaken_events', untaken),
    ofPayment: page('payment_events', ofPayment),
  };
}

function ofMerchant({ given, order, includes }: Range) {
  return sql`
    select event.id, event.type, event.created_at, event.data
    from unnest(${given('types')}::text[]) as wanted (type)
    cross join lateral (
      select id, type, created_at, data from events
      where merchant_id = ${given('merchantId')} and type = wanted.type
        and ${includes('events.created_at', 'events.id')}
      order by created_at ${order}, id ${order} limit ${given('limit')}::integer) as event`;
}

function ofPayment({ given, includes }: Range<PageValues & { readonly paymentId: string }>) {
  // With `exists` PostgreSQL may read the whole index of untaken deliveries.
  const isUntaken = sql`(
    select bool_or(untaken_type is not null) from webhook_deliveries where event_id = events.id)`;
  return sql`
    select id, type, created_at, data
    from (
      select id, merchant_id, type, created_at, data from events
      where payment_id = ${given('paymentId')} offset 0) as events
    where merchant_id = ${given('merchantId')} and type = any(${given('types')}::text[])
      and ${includes('events.created_at', 'events.id')}
      and (not ${given('undelivered')}::boolean or ${isUntaken})`;
}

/** A delivery made with its event has the event's time. Only one index has endpoint IDs as text, hence the casts. */
function untaken({ given, order, includes }: Range) {
  return sql`
    select event.id, event.type, event.created_at, event.data
    from (
      select distinct sent.created_at, sent.event_id
      from webhook_endpoints as endpoint
      cross join unnest(${given('types')}::text[]) as wanted (type)
      cross join lateral (
        select created_at, event_id from webhook_deliveries
        where endpoint_id::text = endpoint.id::text and untaken_type = wanted.type
          and ${includes('webhook_deliveries.created_at', 'webhook_deliveries.event_id')}
        order by created_at ${order}, event_id ${order} limit ${given('limit')}::integer) as sent
      where endpoint.merchant_id = ${given('merchantId')}
      order by sent.created_at ${order}, sent.event_id ${order}
      limit ${given('limit')}::integer) as sent
    cross join lateral (${eventOf(sql`sent.event_id`)}) as event`;
}

/**
 * An event by its ID, in a form that only the primary key serves: for an equality any index with the ID looks as cheap
 * while a table is empty, and the plan is kept while it grows.
 */
function eventOf(id: RawBuilder<unknown>) {
  return sql`
    select id, merchant_id, type, created_at, data from events
    where id between ${id} and ${id} order by id limit 1`;
}

const eventById = prepare(
  'merchant_event',
  (_, given: Given<{ readonly merchantId: string; readonly id: string }>) => sql<MerchantEvent>`
    select id, type, created_at as "createdAt", data::text as data
    from (${eventOf(sql`${given('id')}::uuid`)}) as event where merchant_id = ${given('merchantId')}`,
);

/** Undefined for another merchant's event, as for a missing one. */
export async function findMerchantEvent(
  db: Connection,
  merchantId: string,
  id: string,
): Promise<MerchantEvent | undefined> {
  const [event] = await eventById(db, { merchantId, id });
  return event;
}

/** The columns that describe a delivery, and by which its attempts are found. */
export type DeliveryOfMerchant = Omit<WebhookDelivery, 'claimed_until' | 'untaken_type'>;

interface DeliveriesWanted {
  readonly eventIds: readonly string[];
  /** Bounds of the months of the events. */
  readonly from: string;
  readonly until: string;
}

const deliveriesOfEvents = prepare(
  'deliveries_of_events',
  (_, given: Given<DeliveriesWanted>) => sql<DeliveryOfMerchant>`
    select delivery.id, delivery.event_id, delivery.endpoint_id, delivery.redelivery_of, delivery.status,
           delivery.attempts, delivery.next_attempt_at, delivery.created_at, delivery.finished_at
    from unnest(${given('eventIds')}::uuid[]) as event (id)
    cross join lateral (
      select id, event_id, endpoint_id, redelivery_of, status, attempts, next_attempt_at, created_at, finished_at
      from webhook_deliveries
      where event_id = event.id
        and ${isBetween('event_id', sql`${given('from')}::uuid`, sql`${given('until')}::uuid`)}
      order by created_at desc, id desc limit ${DELIVERIES_SHOWN}::integer) as delivery
    order by delivery.created_at desc, delivery.id desc`,
);

/** The newest deliveries of each event, at most DELIVERIES_SHOWN of one, newest first. */
export async function listDeliveriesOf(
  db: Connection,
  eventIds: readonly string[],
): Promise<DeliveryOfMerchant[]> {
  if (eventIds.length === 0) return [];
  return deliveriesOfEvents(db, { eventIds, ...boundsOf(monthsOf(eventIds)) });
}
