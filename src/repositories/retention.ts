import { sql } from 'kysely';
import type { Connection } from '../database/connection.ts';
import { firstIdOf } from './payments/events.ts';

/**
 * Removes at most `limit` events from before `before`, oldest first, each with its deliveries and their
 * attempts. An event stays while a delivery of it waits, or ended later than that. Does nothing while
 * another worker removes events: locking rows instead would need the privilege to update them.
 *
 * Events are found by their IDs, which begin with their time: an index on that time would cost every
 * creation of a payment. What belongs to them is given as arrays, so that it is looked up by index:
 * the planner's estimates of the steps before do not matter.
 * @returns The number of events.
 */
export async function deleteOldEvents(
  db: Connection,
  before: Date,
  limit: number,
): Promise<number> {
  const { numAffectedRows } = await sql`
    with turn as materialized (
      select pg_try_advisory_xact_lock(hashtextextended('remove_old_events', 0)) as mine),
    old as materialized (
      select id from events
      where (select mine from turn) and id < ${firstIdOf(before.getTime())}::uuid and created_at < ${before}
        and not exists (
          select from webhook_deliveries
          where event_id = events.id and (finished_at is null or finished_at >= ${before}))
      order by id limit ${limit}),
    delivery as materialized (
      select id from webhook_deliveries where event_id = any(array(select id from old))),
    attempt as (
      delete from webhook_attempts where delivery_id = any(array(select id from delivery))),
    sent as (
      delete from webhook_deliveries where id = any(array(select id from delivery)))
    delete from events where id = any(array(select id from old))`.execute(db);
  return Number(numAffectedRows ?? 0n);
}
