import { sql } from 'kysely';
import type { Connection } from './connection.ts';

/**
 * How many standbys follow the primary without any commit waiting for one: what they lack is lost when one of them is
 * promoted. 0 where some standby is to be synchronous. A role without pg_read_all_stats sees that they are there, and
 * not which is a copy that is being made.
 */
export async function countAsynchronousStandbys(db: Connection): Promise<number> {
  const { rows } = await sql<{ standbys: number }>`
    select count(*)::int as standbys from pg_stat_replication as standby
    where current_setting('synchronous_standby_names') = ''
      and coalesce(state, 'streaming') = 'streaming'
      and application_name is distinct from 'pg_basebackup'
      -- Subscribers of changes, which are no standbys.
      and not exists (
        select from pg_replication_slots
        where active_pid = standby.pid and slot_type = 'logical')`.execute(db);
  return rows[0]?.standbys ?? 0;
}
