import { type RawBuilder, sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import { type Given, prepare } from '../../database/prepared.ts';
import type { WebhookEndpoint } from '../../database/webhook-tables.ts';
import type { OutgoingEvent } from '../payments/events.ts';
import { ALL_MONTHS, type IdRange, isAmong, isIn } from './event-months.ts';

/** An endpoint with deliveries that a worker can claim. */
export interface DueEndpoint {
  readonly endpointId: string;
  readonly merchantId: string;
  /** How many, at most the limit asked for. */
  readonly due: number;
  /** The first and the last of their events, by ID. */
  readonly events: readonly [string, string];
}

/** How many deliveries of an endpoint a worker wants to claim. */
interface Allotment {
  readonly endpointId: string;
  readonly count: number;
}

/** What an attempt sends, and its endpoint. */
export interface ClaimedDelivery {
  readonly deliveryId: string;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  readonly claimedUntil: Date;
  readonly endpoint: WebhookEndpoint;
  readonly event: OutgoingEvent;
}

/** Maximum number of endpoints that one search returns; later searches find the others. */
const ENDPOINTS_MAXIMUM = 1_000;

/** A delivery whose attempt is due and that no worker has claimed. */
function isDue(now: Date): RawBuilder<unknown> {
  return sql`status = 'pending' and next_attempt_at <= ${now}
    and (claimed_until is null or claimed_until <= ${now})`;
}

/** Prepared, since planning it for all months takes longer than running it, and an idle worker runs it all the time. */
const dueEndpoints = prepare(
  'due_endpoints',
  (_, given: Given<{ readonly now: Date; readonly perEndpoint: number }>) => sql<DueEndpoint>`
    with recursive waiting (endpoint_id) as (
      (select endpoint_id from webhook_deliveries where status = 'pending'
       order by endpoint_id limit 1)
      union all
      select (select delivery.endpoint_id from webhook_deliveries as delivery
              where delivery.status = 'pending' and delivery.endpoint_id > waiting.endpoint_id
              order by delivery.endpoint_id limit 1)
      from waiting where waiting.endpoint_id is not null)
    select endpoint.id as "endpointId", endpoint.merchant_id as "merchantId", first.due, first.events
    from waiting
    cross join lateral (
      select count(*)::integer as due, min(next_attempt_at) as since,
             array[min(event_id::text), max(event_id::text)] as events
      from (select next_attempt_at, event_id from webhook_deliveries
            where endpoint_id = waiting.endpoint_id and ${isDue(given('now'))}
            order by next_attempt_at limit ${given('perEndpoint')}::integer) as delivery) as first
    cross join lateral (
      select id, merchant_id from webhook_endpoints where id = waiting.endpoint_id offset 0) as endpoint
    where first.due > 0
    order by first.since
    limit ${ENDPOINTS_MAXIMUM}::integer`,
);

/**
 * Endpoints with deliveries to claim, the one longest due first. Steps from endpoint to endpoint
 * through an index, so that the length of their backlogs does not matter.
 * @param perEndpoint Most deliveries that are counted for an endpoint.
 */
export function findDueEndpoints(
  db: Connection,
  now: Date,
  perEndpoint: number,
): Promise<DueEndpoint[]> {
  return dueEndpoints(db, { now, perEndpoint });
}

/** Maximum number of deliveries of a payment that are claimed together; it has a handful. */
const OF_PAYMENT_MAXIMUM = 100;

interface ClaimTimes {
  readonly now: Date;
  readonly until: Date;
}

/**
 * Claims the longest due deliveries of some endpoints for one worker until `until`. Skips those that
 * another worker is claiming.
 * @param months Months of the events whose deliveries are claimed; others are left for another claim.
 */
export function claimDeliveries(
  db: Connection,
  allotments: readonly Allotment[],
  times: ClaimTimes,
  months: IdRange = ALL_MONTHS,
): Promise<ClaimedDelivery[]> {
  const endpointIds = allotments.map(({ endpointId }) => endpointId);
  const counts = allotments.map(({ count }) => count);
  const due = sql`
    select due.id
    from unnest(${endpointIds}::uuid[], ${counts}::integer[]) as allotment (endpoint_id, count)
    cross join lateral (
      select id from webhook_deliveries
      where endpoint_id = allotment.endpoint_id and ${isDue(times.now)}
        and ${isAmong('event_id', months)}
      order by next_attempt_at limit allotment.count
      for update skip locked) as due`;
  return claim(db, due, months, times.until);
}

/** Claims the due deliveries of a payment's events, as `claimDeliveries` does. */
export function claimDeliveriesOf(
  db: Connection,
  paymentId: string,
  times: ClaimTimes,
): Promise<ClaimedDelivery[]> {
  const due = sql`
    select id from webhook_deliveries
    where event_id in (select id from events where payment_id = ${paymentId}) and ${isDue(times.now)}
    order by next_attempt_at limit ${OF_PAYMENT_MAXIMUM}
    for update skip locked`;
  return claim(db, due, ALL_MONTHS, times.until);
}

/**
 * @param due Query of the IDs, which locks their rows.
 * @param months Months of their events.
 */
async function claim(
  db: Connection,
  due: RawBuilder<unknown>,
  months: IdRange,
  until: Date,
): Promise<ClaimedDelivery[]> {
  // The array is built once, before the update, so that each row is locked and counted once.
  const rows = await db
    .with(
      'delivery',
      () => sql<{ id: string; attempts: number; event_id: string; endpoint_id: string }>`(
        update webhook_deliveries set claimed_until = ${until}
        where id = any(array(${due})) and ${isIn('event_id', months)}
        returning id, attempts, event_id, endpoint_id)`,
    )
    .selectFrom('delivery')
    .innerJoin('events', 'events.id', 'delivery.event_id')
    .where(sql<boolean>`${isIn('events.id', months)}`)
    .innerJoin('webhook_endpoints', 'webhook_endpoints.id', 'delivery.endpoint_id')
    .selectAll('webhook_endpoints')
    .select([
      'delivery.id as deliveryId',
      'delivery.attempts as attemptsBefore',
      'events.id as eventId',
      'events.type as eventType',
      'events.created_at as eventCreatedAt',
      'events.traceparent',
      'events.tracestate',
    ])
    .select(({ cast }) => cast<string>('events.data', 'text').as('eventData'))
    .execute();
  return rows.map(row => {
    const { deliveryId, attemptsBefore, eventId, eventType, eventCreatedAt, ...rest } = row;
    const { eventData: data, traceparent, tracestate, ...endpoint } = rest;
    const event = { id: eventId, type: eventType, createdAt: eventCreatedAt, data };
    return {
      deliveryId,
      attempt: attemptsBefore + 1,
      claimedUntil: until,
      endpoint,
      event: { ...event, traceparent, tracestate },
    };
  });
}

/** Releases the deliveries claimed until exactly `until`, by a claim whose response may have been lost. */
export async function releaseClaims(db: Connection, until: Date, now: Date): Promise<void> {
  await db
    .updateTable('webhook_deliveries')
    .set({ claimed_until: null })
    .where('status', '=', 'pending')
    .where('next_attempt_at', '<=', now)
    .where('claimed_until', '=', until)
    .execute();
}
