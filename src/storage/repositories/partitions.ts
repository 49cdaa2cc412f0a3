import { sql } from 'kysely';
import type { Connection } from '../database/connection.ts';

/** Tables whose rows are kept for some months, and their monthly partitions (migrations/0062_month_partitions.ts). */

/** Tables whose months are dropped together. */
export type PartitionGroup = 'events' | 'requests';

const GROUPS: Readonly<Record<PartitionGroup, readonly string[]>> = {
  events: ['events', 'webhook_deliveries', 'webhook_attempts'],
  requests: ['request_log'],
};
const TABLES = Object.values(GROUPS).flat();

/**
 * Makes the missing partitions up to the month of `until`, for a year at most.
 * @returns Their names.
 */
export async function makePartitions(db: Connection, until: Date): Promise<string[]> {
  const { rows } = await sql<{ made: string[] }>`
    select make_month_partitions(${until}) as made`.execute(db);
  return rows[0]?.made ?? [];
}

/**
 * Drops the months of a group that ended `days` ago by the caller's clock and by that of the database, since what a
 * wrong clock drops is lost. A month stays while one of its deliveries is pending.
 * @param days Months that ended less than six days ago stay in any case.
 * @returns The names of the partitions; none while another process drops some.
 */
export async function dropPartitions(
  db: Connection,
  group: PartitionGroup,
  { now, days }: { readonly now: Date; readonly days: number },
): Promise<string[]> {
  const dropped: string[] = [];
  for (;;) {
    const { rows } = await sql<{ name: string | null }>`
      select drop_month_partition(
        ${GROUPS[group]}::text[], least(${now}, now()) - ${days} * interval '1 day'
      ) as name`.execute(db);
    const name = rows[0]?.name ?? null;
    if (name === null) return dropped;
    dropped.push(name);
  }
}

/**
 * The first instant for which a table has no partition, or the beginning of this month if a table has no monthly
 * partitions at all.
 */
export async function findPartitionsEnd(db: Connection, now: Date): Promise<Date> {
  const { rows } = await sql<{ end: Date }>`
    with months as (
      select inhparent as parent, to_timestamp(right(relname, 6), 'YYYYMM') as month
      from pg_inherits join pg_class on pg_class.oid = inhrelid
      where inhparent = any(array(select unnest(${TABLES}::text[])::regclass))
        and relname ~ '_[0-9]{6}$'
    ), begins as (
      -- All rows before the first month are in one partition.
      select part.whole::regclass::oid as parent,
             greatest(min(month), date_trunc('month', ${now}::timestamptz)) as month
      from unnest(${TABLES}::text[]) as part (whole)
      left join months on months.parent = part.whole::regclass group by part.whole
    )
    select min(missing.month) as end from begins cross join lateral (
      select month from generate_series(begins.month, begins.month + interval '14 months', '1 month') as month
      where not exists (
        select from months where months.parent = begins.parent and months.month = month.month)
      order by month limit 1) as missing`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('the database has no partitions');
  return row.end;
}

/** A partition and its size. */
export interface PartitionSize {
  readonly table: string;
  /** YYYY-MM in UTC; null for all months before the first one that has a partition of its own. */
  readonly month: string | null;
  /** Estimated by PostgreSQL. */
  readonly rows: number;
  /** With indexes. */
  readonly bytes: number;
}

/** All partitions, by table, the oldest first. */
export async function listPartitions(db: Connection): Promise<PartitionSize[]> {
  const { rows } = await sql<PartitionSize>`
    select inhparent::regclass::text as table,
           case when relname ~ '_[0-9]{6}$'
             then to_char(to_timestamp(right(relname, 6), 'YYYYMM'), 'YYYY-MM') end as month,
           greatest(reltuples, 0)::bigint as rows, pg_total_relation_size(inhrelid)::bigint as bytes
    from pg_inherits join pg_class on pg_class.oid = inhrelid
    where inhparent = any(array(select unnest(${TABLES}::text[])::regclass))
    order by array_position(${TABLES}::text[], inhparent::regclass::text), month nulls first`.execute(
    db,
  );
  return rows;
}
