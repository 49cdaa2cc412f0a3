import { sql } from 'kysely';
import type { Connection, Database } from '#storage/database/connection.ts';
import { firstIdOf } from '#storage/repositories/payments/events.ts';
import { monthFrom } from '../test/helpers/months.ts';
import { type Job, runInLanes } from './lanes.ts';

/** Events are kept for 90 days, and until the month of the first of these is over. */
export const EVENT_MONTHS = 3;
/** One in this many events of a merchant is of the rare type, and one in this many deliveries has failed. */
const RARE_EVERY = 50;
const FAILED_EVERY = 256;
/** Even a short history has this many of them: enough for a short page. */
const LEAST = 3;

/**
 * Gives every payment of the retained months an event, whose ID is the payment's, and those of one merchant
 * a delivery with an attempt.
 */
export async function fillEvents(db: Database, merchantId: string): Promise<void> {
  const now = new Date();
  const jobs: Job[] = [
    connection => fillMerchant(connection, merchantId, monthFrom(now, -EVENT_MONTHS)),
  ];
  for (let distance = -EVENT_MONTHS; distance <= 0; distance++) {
    const [from, until] = [monthFrom(now, distance), monthFrom(now, distance + 1)];
    jobs.push(connection =>
      sql`
        insert into events (id, merchant_id, payment_id, type, created_at, data)
        select id, merchant_id, id, 'payment_prompt.created', created_at, '{}'
        from payments
        where id >= ${firstIdOf(from.getTime())} and id < ${firstIdOf(until.getTime())} and merchant_id <> ${merchantId}
        order by id`.execute(connection),
    );
  }
  await runInLanes(db, jobs);
  await sql`vacuum (freeze, analyze) events, webhook_deliveries, webhook_attempts`.execute(db);
}

async function fillMerchant(db: Connection, merchantId: string, since: Date): Promise<void> {
  await sql`
    insert into events (id, merchant_id, payment_id, type, created_at, data)
    select id, merchant_id, id,
           case when number % least(${RARE_EVERY}, greatest(count / ${LEAST}, 1)) = 0
             then 'payment_prompt.cancelled' else 'payment_prompt.created' end,
           created_at, '{}'
    from (
      select id, merchant_id, created_at, row_number() over (order by id) as number,
             count(*) over () as count
      from payments where merchant_id = ${merchantId} and id >= ${firstIdOf(since.getTime())}) as payment`.execute(
    db,
  );
  await sql`
    with endpoint as (
      insert into webhook_endpoints (id, merchant_id, url, secret, master_key_version, created_at)
      values (gen_random_uuid(), ${merchantId}, 'https://shop.example.com/', '', 1, now())
      returning id)
    insert into webhook_deliveries
      (id, event_id, endpoint_id, status, finished_at, created_at, untaken_type)
    select event.id, event.id, endpoint.id, case when failed then 'failed' else 'succeeded' end,
           event.created_at, event.created_at, case when failed then type end
    from endpoint, (
      select id, type, created_at,
             row_number() over (order by id)
               % least(${FAILED_EVERY}, greatest(count(*) over () / ${LEAST}, 1)) = 0 as failed
      from events where merchant_id = ${merchantId}) as event`.execute(db);
  await sql`
    insert into webhook_attempts (id, delivery_id, number, at, duration_ms, status_code)
    select id, id, 1, created_at, 20, case when status = 'failed' then 500 else 200 end
    from webhook_deliveries`.execute(db);
}
