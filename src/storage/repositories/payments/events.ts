import { type RawBuilder, sql } from 'kysely';
import { DEPOSIT_EVENT_TYPES } from '#schemas/event.ts';
import type { Connection } from '../../database/connection.ts';

/** Part of the statement's text, so that its plan does not depend on parameters. */
const OF_DEPOSITS = sql.join(DEPOSIT_EVENT_TYPES.map(type => sql.lit(type)));

export interface NewEvent {
  readonly id: string;
  readonly merchantId: string;
  /** null for an event of a deposit that no payment took. */
  readonly paymentId: string | null;
  readonly type: string;
  readonly createdAt: Date;
  /** JSON text of the payment or deposit at this moment, stored unchanged. */
  readonly data: string;
  /** W3C Trace Context headers for the deliveries; null without a trace. */
  readonly traceparent: string | null;
  readonly tracestate: string | null;
}

/**
 * The common table expressions that record an event: the `event`, and a `delivery` for each subscribed
 * endpoint of the merchant. A merchant without endpoints costs one index lookup: with `offset 0`
 * PostgreSQL cannot turn the lookup for each event into a join that reads all endpoints.
 * @param source Query or values of an event: ID, merchant, payment, type, creation time, data,
 * and its two trace headers.
 */
export function eventSteps(source: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    event as (
      insert into events (id, merchant_id, payment_id, type, created_at, data, traceparent, tracestate)
      ${source}
      returning id, merchant_id, type, created_at),
    delivery as (
      insert into webhook_deliveries
        (id, event_id, endpoint_id, next_attempt_at, created_at, untaken_type)
      select ${timeOrderedId(sql`event.created_at`)}, event.id, endpoint.id, event.created_at,
             event.created_at, event.type
      from event cross join lateral (
        select id from webhook_endpoints
        where merchant_id = event.merchant_id and disabled_at is null
          and (event.type = any(types)
               or types is null and (deposit_events or event.type not in (${OF_DEPOSITS})))
        offset 0) as endpoint)`;
}

/**
 * A UUIDv7: replaces the first 12 digits of a random UUID with the instant's milliseconds, and sets
 * the version. Rows created together are then adjacent in the index, however large it is.
 */
function timeOrderedId(instant: RawBuilder<unknown>): RawBuilder<unknown> {
  const milliseconds = sql`lpad(to_hex((extract(epoch from ${instant}) * 1000)::bigint), 12, '0')`;
  return sql`overlay(gen_random_uuid()::text placing
    left(${milliseconds}, 8) || '-' || right(${milliseconds}, 4) || '-7' from 1 for 15)::uuid`;
}

/** An event as deliveries send it. */
export type OutgoingEvent = Omit<NewEvent, 'merchantId' | 'paymentId'>;

/** The lowest UUIDv7 of a millisecond, which is at or before `time`. */
export function firstIdOf(time: number): string {
  const milliseconds = Math.floor(time).toString(16).padStart(12, '0');
  return `${milliseconds.slice(0, 8)}-${milliseconds.slice(8)}-7000-8000-000000000000`;
}

/** Records an event with its deliveries; call it in the transaction of the change. */
export async function insertEvent(db: Connection, event: NewEvent): Promise<void> {
  const values = sql`
    values (${event.id}::uuid, ${event.merchantId}::uuid, ${event.paymentId}::uuid, ${event.type},
            ${event.createdAt}::timestamptz, ${event.data}::json,
            ${event.traceparent}::text, ${event.tracestate}::text)`;
  await sql`with ${eventSteps(values)} select`.execute(db);
}
