import { sql } from 'kysely';
import type { Connection } from './connection.ts';

/** Resolves when the database answers. */
export async function ping(db: Connection): Promise<void> {
  await db.selectNoFrom(({ lit }) => lit(1).as('one')).execute();
}

/** The database's time, in milliseconds since the epoch. */
export async function readDatabaseClock(db: Connection): Promise<number> {
  const { rows } = await sql<{ now: number }>`
    select (extract(epoch from clock_timestamp()) * 1000)::float8 as now`.execute(db);
  if (rows[0] === undefined) throw new Error('the database has no time');
  return rows[0].now;
}
