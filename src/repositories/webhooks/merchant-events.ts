import { type RawBuilder, sql } from 'kysely';
import { DELIVERIES_SHOWN } from '#schemas/list-events.ts';
import type { Connection } from '../../database/connection.ts';
import type { WebhookDelivery } from '../../database/webhook-tables.ts';
import { firstIdOf } from '../payments/events.ts';
import {
  ALL_MONTHS,
  FIRST_ID,
  type IdRange,
  isBetween,
  isIn,
  LAST_ID,
  listEventMonths,
  monthsOf,
} from './event-months.ts';

/** Months that are read for a page before any other; those made ahead are empty. */
const MONTHS_AT_ONCE = 2;

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
  readonly now: Date;
  /** Events from before it are removed. */
  readonly keptSince: Date;
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
 * They are in the order of the months of their IDs, and in a month of their times. That is the order of their times,
 * but for an event whose time and ID lie on both sides of a month's end, as after a clock that was set. Such an order
 * needs no assumption about clocks: a page is read from the month in which it begins, and from others only as far as
 * that does not fill it, and no event is left out or comes again.
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
  const months = await listEventMonths(db, page.now);
  const { paymentId } = filters;
  if (paymentId !== undefined)
    return listOfPayment(db, merchantId, { ...filters, paymentId }, page, months);
  const events: MerchantEvent[] = [];
  for (const step of steps(page.oldestFirst ? months : months.toReversed(), page)) {
    const limit = page.limit - events.length;
    if (limit === 0) break;
    events.push(...(await readMonths(db, merchantId, step, filters, { ...page, limit })));
  }
  return events;
}

/**
 * Which months are read together, in the order of the list: those in which a page of most accounts is, and all others,
 * so that one with few events takes two statements.
 */
function steps(
  months: readonly IdRange[],
  { oldestFirst, beyond, now, keptSince }: EventPage,
): IdRange[][] {
  // Before it are months made ahead, in which a wrong clock has left events, or those that are about to be dropped.
  const begin = firstIdOf((oldestFirst ? keptSince : now).getTime());
  const isCursor = typeof beyond === 'string';
  const first = months.findIndex(month => holds(month, isCursor ? beyond : begin));
  const last = first + MONTHS_AT_ONCE;
  return [months.slice(isCursor ? first : 0, last), months.slice(last)].filter(
    step => step.length > 0,
  );
}

const holds = ({ from, until }: IdRange, id: string) =>
  (from === null || from <= id.toLowerCase()) && (until === null || id.toLowerCase() < until);

/** Reads what is on a page of some months, in their order. */
async function readMonths(
  db: Connection,
  merchantId: string,
  months: readonly IdRange[],
  filters: EventFilters,
  page: EventPage,
): Promise<MerchantEvent[]> {
  const { beyond, oldestFirst, limit } = page;
  const order = sql.raw(oldestFirst ? 'asc' : 'desc');
  const range: Range = {
    ...{ types: filters.types, order, limit, months: rangeOf(months) },
    includes: (createdAt, id) =>
      sql.join(
        [
          isBetween(id, sql`month.first`, sql`month.until`),
          isIn(id, rangeOf(months)),
          isOfTime(createdAt, filters),
          isBeyond(createdAt, id, page),
        ],
        sql` and `,
      ),
  };
  const rows = months.map(({ from, until }, place) => {
    const isCursors = typeof beyond === 'string' && holds({ from, until }, beyond);
    return sql`(${sql.lit(place)}, ${sql.lit(from ?? FIRST_ID)}::uuid, ${sql.lit(until ?? LAST_ID)}::uuid,
      ${sql.lit(isCursors)})`;
  });
  const cursor =
    typeof beyond === 'string'
      ? sql`cross join (${cursorOf(merchantId, beyond)}) as cursor`
      : sql``;
  const found = filters.undelivered ? untaken(merchantId, range) : ofMerchant(merchantId, range);
  const { rows: events } = await sql<MerchantEvent>`
    select found.id, found.type, found.created_at as "createdAt", found.data::text as data
    from (values ${sql.join(rows)}) as month (place, first, until, is_cursors) ${cursor}
    cross join lateral (${found}) as found
    order by month.place, found.created_at ${order}, found.id ${order} limit ${limit}`.execute(db);
  return events;
}

/** What the queries below have in common; they are made for each row of `month`. */
interface Range {
  readonly types: readonly string[];
  readonly order: RawBuilder<unknown>;
  readonly limit: number;
  /** All of the months. */
  readonly months: IdRange;
  /** Whether something is on the page, by the columns with its time and the ID of its event. */
  includes(createdAt: string, id: string): RawBuilder<unknown>;
}

/** From the first of months that follow each other until the last. */
function rangeOf(months: readonly IdRange[]): IdRange {
  const [one = ALL_MONTHS, other = ALL_MONTHS] = [months[0], months.at(-1)];
  return (one.from ?? '') <= (other.from ?? '')
    ? { from: one.from, until: other.until }
    : { from: other.from, until: one.until };
}

/** Time and ID of the event that a page begins after. */
const cursorOf = (merchantId: string, id: string) => sql`
  select created_at, id from events
  where id = ${id} and ${isIn('id', monthsOf([id]))} and merchant_id = ${merchantId}`;

/** All that is in the months after that of the cursor is beyond it. */
function isBeyond(createdAt: string, id: string, { oldestFirst, beyond }: EventPage) {
  const further = sql.raw(oldestFirst ? '>' : '<');
  if (beyond === undefined) return sql`true`;
  if (beyond instanceof Date) return sql`${sql.ref(createdAt)} ${further} ${beyond}`;
  const [time, key] = oldestFirst ? ['-infinity', FIRST_ID] : ['infinity', LAST_ID];
  return sql`(${sql.ref(createdAt)}, ${sql.ref(id)}) ${further} (
    case when month.is_cursors then cursor.created_at else ${sql.lit(time)}::timestamptz end,
    case when month.is_cursors then cursor.id else ${sql.lit(key)}::uuid end)`;
}

function isOfTime(createdAt: string, { createdFrom, createdTo }: EventFilters) {
  const at = sql.ref(createdAt);
  return sql.join(
    [
      sql`true`,
      ...(createdFrom === undefined ? [] : [sql`${at} >= ${createdFrom}`]),
      ...(createdTo === undefined ? [] : [sql`${at} <= ${createdTo}`]),
    ],
    sql` and `,
  );
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

/** A delivery that was made with its event has the event's time. One index alone has endpoints' IDs as text. */
function untaken(merchantId: string, { types, order, limit, months, includes }: Range) {
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
      select id, type, created_at, data from events
      where id = sent.event_id and ${isIn('id', months)} offset 0) as event`;
}

/** Events of a payment are few, and may be in all months: those after the one in which it was created. */
async function listOfPayment(
  db: Connection,
  merchantId: string,
  filters: EventFilters & { readonly paymentId: string },
  { oldestFirst, beyond, limit }: EventPage,
  months: readonly IdRange[],
): Promise<MerchantEvent[]> {
  const [order, further] = oldestFirst ? ['asc', '>'] : ['desc', '<'];
  const starts = months.flatMap(({ from }) => (from === null ? [] : [from]));
  const place = (id: RawBuilder<unknown>) =>
    starts.length === 0 ? sql`0` : sql`width_bucket(${id}, ${`{${starts.join()}}`}::uuid[])`;
  const bounds = [
    sql`merchant_id = ${merchantId} and type = any(${filters.types})`,
    isOfTime('created_at', filters),
  ];
  // With `exists` PostgreSQL may read the index of all untaken deliveries for it.
  if (filters.undelivered) {
    bounds.push(sql`(
      select bool_or(untaken_type is not null) from webhook_deliveries where event_id = events.id)`);
  }
  if (beyond instanceof Date) bounds.push(sql`created_at ${sql.raw(further)} ${beyond}`);
  else if (beyond !== undefined) {
    bounds.push(sql`
      (${place(sql`id`)}, created_at, id) ${sql.raw(further)} (
        select ${place(sql`id`)}, created_at, id from (${cursorOf(merchantId, beyond)}) as cursor)`);
  }
  const { rows } = await sql<MerchantEvent>`
    select id, type, created_at as "createdAt", data::text as data
    from (select * from events where payment_id = ${filters.paymentId} offset 0) as events
    where ${sql.join(bounds, sql` and `)}
    order by ${place(sql`id`)} ${sql.raw(order)}, created_at ${sql.raw(order)}, id ${sql.raw(order)}
    limit ${limit}`.execute(db);
  return rows;
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
