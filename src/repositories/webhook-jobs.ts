import { type RawBuilder, sql } from 'kysely';
import type { Connection } from '../database/connection.ts';

/** The queue's task that attempts a delivery. */
export const DELIVERY_TASK = 'deliver_webhook';

/**
 * Adds the job of a delivery's next attempt; select it from rows named `delivery`.
 *
 * The job key allows one waiting job per delivery. A job runs once: retries are scheduled by the
 * delivery, not the queue. The endpoint is a flag, so that workers can skip its jobs.
 *
 * @param runAt Defaults to now by the database's clock.
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

/** Puts a job that cannot run now back at its place in the queue. */
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
 * Adds jobs for at most `limit` deliveries that were due before `before` but have neither a valid
 * claim nor a waiting job, because their worker died or the queue lost the job.
 * @returns The number of jobs.
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
 * Removes at most `limit` jobs that never completed, because their worker died or failed; their
 * deliveries have new jobs. Keeps jobs locked less than 4 hours ago, which the queue considers
 * running.
 */
export async function removeDeadDeliveryJobs(db: Connection, limit: number): Promise<void> {
  await sql`
    select from graphile_worker.complete_jobs(array(
      select id from graphile_worker.jobs
      where task_identifier = ${DELIVERY_TASK} and attempts >= max_attempts
        and (locked_at is null or locked_at < now() - interval '4 hours')
      limit ${limit}))`.execute(db);
}
