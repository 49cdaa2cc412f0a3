import { sql } from 'kysely';
import type { Database } from './connection.ts';

/**
 * How far a streaming replica is behind its primary, in seconds: 0 when it has replayed all that the primary had
 * written, else how long ago the last transaction that it has replayed was committed. Without the comparison a
 * replica would seem to fall behind while nothing is written.
 * @returns null if `replica` is no replica.
 */
export async function readReplicaLag(primary: Database, replica: Database): Promise<number | null> {
  // Only WAL that has been flushed to disk is sent.
  const written = await sql<{ position: string }>`
    select pg_current_wal_flush_lsn()::text as position`.execute(primary);
  const { rows } = await sql<{ seconds: number | null }>`
    select case when not pg_is_in_recovery() then null
                when pg_last_wal_replay_lsn() >= ${written.rows[0]?.position}::pg_lsn then 0
                else greatest(0, extract(epoch from clock_timestamp() -
                  coalesce(pg_last_xact_replay_timestamp(), pg_postmaster_start_time())))
           end::float8 as seconds`.execute(replica);
  return rows[0]?.seconds ?? null;
}
