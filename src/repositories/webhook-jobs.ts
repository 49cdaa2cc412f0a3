import { type RawBuilder, sql } from 'kysely';
import type { Connection } from '../database/connection.ts';

/** Name of the queue's task that attempts a delivery. */
export const DELIVERY_TASK = 'deliver_webhook';

/**
 * Adds the job of a delivery's next attempt; to be selected from rows that have the name `delivery`.
 *
 * A delivery has at most one job that waits (its key), which runs once: what happens next is for the
 * delivery's row to say. The endpoint is a flag, so that a worker can leave its jobs alone.
 *
 * @param runAt When it runs; now by the database's clock if left out.
 */
export function addDeliveryJob(runAt: RawBuilder<unknown> = sql`null`): RawBuilder<unknown> {
  return sql`(graphile_worker.add_job(
    ${sql.lit(DELIVERY_TASK)},
    json_build_object('deliveryId', delivery.id, 'endpointId', delivery.endpoint_id,
                      'merchantId', (select merchant_id from webhook_endpoints
                                     where id = delivery.endpoint_id),
                      'attempt', delivery.attempts + 1),
    run_at => ${runAt},
    max_attempts => 1,
    job_key => delivery.id::text,
    flags => array[delivery.endpoint_id::text])).id`;
}

/** Puts a job that could not be run now back where it was in the queue. */
export async function returnDeliveryJob(
  db: Connection,
  job: { deliveryId: string; endpointId: string; attempt: number; runAt: Date },
): Promise<void> {
  await sql`
    select ${addDeliveryJob(sql`${job.runAt}::timestamptz`)}
    from (select ${job.deliveryId}::uuid as id, ${job.endpointId}::uuid as endpoint_id,
                 ${job.attempt - 1}::integer as attempts) as delivery`.execute(db);
}

/**
 * Adds a job for every delivery that should have been attempted before `before` and that neither a
 * live worker nor a waiting job has: its worker died, or the queue lost it. At most `limit`.
 * @returns How many.
 */
export async function restoreDeliveryJobs(
  db: Connection,
  { now, before, limit }: { now: Date; before: Date; limit: number },
): Promise<number> {
  const { rows } = await sql`
    with delivery as (
      select id, endpoint_id, attempts from webhook_deliveries as overdue
      where status = 'pending' and next_attempt_at <= ${before}
        and (claimed_until is null or claimed_until <= ${now})
        and not exists (
          select from graphile_worker.jobs as job
          where job.key = overdue.id::text
            and job.locked_at is null and job.attempts < job.max_attempts)
      order by next_attempt_at limit ${limit} for update skip locked)
    select ${addDeliveryJob()} from delivery`.execute(db);
  return rows.length;
}

/**
 * Removes jobs that ended without an end: those of workers that died or that an error stopped. Their
 * deliveries have new ones. At most `limit`; the queue itself keeps those locked within 4 hours.
 */
export async function removeDeadDeliveryJobs(db: Connection, limit: number): Promise<void> {
  await sql`
    select from graphile_worker.complete_jobs(array(
      select id from graphile_worker.jobs
      where task_identifier = ${DELIVERY_TASK} and attempts >= max_attempts
        and (locked_at is null or locked_at < now() - interval '4 hours')
      limit ${limit}))`.execute(db);
}
