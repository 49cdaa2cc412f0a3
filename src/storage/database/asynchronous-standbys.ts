import { sql } from 'kysely';
import type { Connection } from './connection.ts';

/**
 * Number of standbys that follow the primary while no commit waits for one. Commits that they lack are lost when one of
 * them is promoted. 0 if `synchronous_standby_names` is set. A role without pg_read_all_stats sees the standbys, but
 * cannot tell which of them is a base backup in progress.
 */
export async function countAsynchronousStandbys(db: Connection): Promise<number> {
  const { rows } = await sql<{ standbys: number }>`
    select count(*)::int as standbys from pg_stat_replication as standby
    where current_setting('synchronous_standby_names') = ''
      and coalesce(state, 'streaming') = 'streaming'
      and application_name is distinct from 'pg_basebackup'
      -- Logical subscribers are no standbys.
      and not exists (
        select from pg_replication_slots
        where active_pid = standby.pid and slot_type = 'logical')`.execute(db);
  return rows[0]?.standbys ?? 0;
}
