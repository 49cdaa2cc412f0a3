import { sql } from 'kysely';
import type { Database } from '#storage/database/connection.ts';
import { listPartitions } from '#storage/repositories/partitions.ts';

const TABLES = ['request_log', 'events', 'webhook_deliveries', 'webhook_attempts'];

/** The first instant of the UTC month that is `distance` months from that of `time`. */
export const monthFrom = (time: Date, distance: number) =>
  new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + distance, 1));

/** Empties the partitioned tables, and gives them a partition for each month of a range. */
export async function makeMonths(db: Database, first: Date, last: Date): Promise<void> {
  // In the order of their foreign keys.
  for (const { table, month } of (await listPartitions(db)).toReversed()) {
    const name = `${table}_${month === null ? 'before' : month.replace('-', '')}`;
    await sql`drop table ${sql.table(name)}`.execute(db);
  }
  for (let month = first; month <= last; month = monthFrom(month, 1)) {
    for (const table of TABLES) {
      await sql`select make_month_partition(${table}, ${month})`.execute(db);
    }
  }
}
