import { sql } from 'kysely';
import type { Database } from '../src/database/connection.ts';

/** One event of a merchant in so many is of the rare type: enough for a short page of a short history. */
const RARE_EVERY = 50;

/**
 * Gives every payment an event, which has the payment's ID, and those of one merchant a delivery with an
 * attempt, of which one in 256 has failed. Triggers are off, so that five million take a minute.
 */
export async function fillEvents(db: Database, merchantId: string): Promise<void> {
  await db.connection().execute(async connection => {
    await sql`set session_replication_role = replica`.execute(connection);
    await sql`
      insert into events (id, merchant_id, payment_id, type, created_at, data)
      select id, merchant_id, id,
             case when row_number() over (partition by merchant_id order by id) % ${RARE_EVERY} = 0
               then 'payment_prompt.cancelled' else 'payment_prompt.created' end,
             created_at, '{}'
      from payments`.execute(connection);
    await sql`
      with endpoint as (
        insert into webhook_endpoints (id, merchant_id, url, secret, master_key_version, created_at)
        values (gen_random_uuid(), ${merchantId}, 'https://shop.example.com/', '', 1, now())
        returning id)
      insert into webhook_deliveries
        (id, event_id, endpoint_id, status, finished_at, created_at, untaken_type)
      select events.id, events.id, endpoint.id, case when failed then 'failed' else 'succeeded' end,
             events.created_at, events.created_at, case when failed then type end
      from events, endpoint, lateral (
        select right(events.id::text, 2) = '00' as failed) as it
      where events.merchant_id = ${merchantId}`.execute(connection);
    await sql`
      insert into webhook_attempts (id, delivery_id, number, at, duration_ms, status_code)
      select id, id, 1, created_at, 20, case when status = 'failed' then 500 else 200 end
      from webhook_deliveries`.execute(connection);
    await sql`set session_replication_role = default`.execute(connection);
  });
  await sql`vacuum (analyze) events, webhook_deliveries, webhook_attempts`.execute(db);
}
