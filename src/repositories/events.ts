import { type RawBuilder, sql } from 'kysely';
import type { Connection } from '../database/connection.ts';
import { addDeliveryJob } from './webhook-jobs.ts';

export interface NewEvent {
  readonly id: string;
  readonly merchantId: string;
  readonly paymentId: string;
  readonly type: string;
  readonly createdAt: Date;
  /** JSON text of the payment as it is now, kept as it is. */
  readonly data: string;
  /** Headers of W3C Trace Context for its deliveries; null without a trace. */
  readonly traceparent: string | null;
  readonly tracestate: string | null;
}

/**
 * The steps of a statement that record an event: `event`; for each endpoint of the merchant that
 * wants it a `delivery`; and the `job` that attempts it, which the statement has to count. A merchant
 * without endpoints costs a look into an index.
 * @param source Query or values of an event: ID, merchant, payment, type, creation time, data,
 * and the two headers of its trace.
 */
export function eventSteps(source: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    event as (
      insert into events (id, merchant_id, payment_id, type, created_at, data, traceparent, tracestate)
      ${source}
      returning id, merchant_id, type, created_at),
    delivery as (
      insert into webhook_deliveries (id, event_id, endpoint_id, next_attempt_at, created_at)
      select ${timeOrderedId(sql`event.created_at`)}, event.id, endpoint.id, event.created_at, event.created_at
      from event join webhook_endpoints as endpoint on endpoint.merchant_id = event.merchant_id
      where endpoint.disabled_at is null
        and (endpoint.types is null or event.type = any(endpoint.types))
      returning id, endpoint_id, attempts),
    job as (select ${addDeliveryJob()} from delivery)`;
}

/**
 * A UUIDv7 of an instant: the milliseconds of its first 12 digits and the version take the place of
 * random digits. Rows made together then lie together in an index, however large it has become.
 */
function timeOrderedId(instant: RawBuilder<unknown>): RawBuilder<unknown> {
  const milliseconds = sql`lpad(to_hex((extract(epoch from ${instant}) * 1000)::bigint), 12, '0')`;
  return sql`overlay(gen_random_uuid()::text placing
    left(${milliseconds}, 8) || '-' || right(${milliseconds}, 4) || '-7' from 1 for 15)::uuid`;
}

/** Records an event with its deliveries; call it in the transaction of the change it tells. */
export async function insertEvent(db: Connection, event: NewEvent): Promise<void> {
  const values = sql`
    values (${event.id}::uuid, ${event.merchantId}::uuid, ${event.paymentId}::uuid, ${event.type},
            ${event.createdAt}::timestamptz, ${event.data}::json,
            ${event.traceparent}::text, ${event.tracestate}::text)`;
  await sql`with ${eventSteps(values)} select count(*) from job`.execute(db);
}
