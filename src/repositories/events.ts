import { type Insertable, sql } from 'kysely';
import type { Connection } from '../database/connection.ts';
import type { EventsTable } from '../database/tables.ts';
import { addDeliveryJob } from './webhook-jobs.ts';

/**
 * Records an event, and for each endpoint of the merchant that wants it a delivery and the job that
 * attempts it; call it in the transaction of the change it tells. One statement: a merchant without
 * endpoints costs a look into an index.
 */
export async function insertEvent(db: Connection, row: Insertable<EventsTable>): Promise<void> {
  await sql`
    with event as (
      insert into events (id, merchant_id, payment_id, type, created_at, data)
      values (${row.id}, ${row.merchant_id}, ${row.payment_id}, ${row.type}, ${row.created_at},
              ${row.data})
      returning id, merchant_id, type, created_at),
    delivery as (
      insert into webhook_deliveries (id, event_id, endpoint_id, next_attempt_at, created_at)
      select gen_random_uuid(), event.id, endpoint.id, event.created_at, event.created_at
      from event join webhook_endpoints as endpoint on endpoint.merchant_id = event.merchant_id
      where endpoint.disabled_at is null
        and (endpoint.types is null or event.type = any(endpoint.types))
      returning id, endpoint_id, attempts)
    select ${addDeliveryJob()} from delivery`.execute(db);
}
