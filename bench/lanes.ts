import { sql } from 'kysely';
import type { Database } from '#storage/database/connection.ts';

/** A task that fills a database, on its own connection. */
export type Job = (connection: Database) => Promise<unknown>;

/** Concurrent connections: as many as the smallest machine of a bench has processors. */
export const LANES = 2;

/** Settings of a lane. */
const SETTINGS = {
  // Triggers and foreign keys only cost time: the tasks insert what triggers would.
  session_replication_role: 'replica',
  synchronous_commit: 'off',
  // Other lanes need the processors.
  max_parallel_workers_per_gather: '0',
  max_parallel_maintenance_workers: '0',
  jit: 'off',
  maintenance_work_mem: '1GB',
  work_mem: '256MB',
};

/** Runs jobs concurrently, started in order. */
export async function runInLanes(db: Database, jobs: readonly Job[]): Promise<void> {
  const waiting = jobs.values();
  const runLane = () =>
    db.connection().execute(async connection => {
      for (const [name, value] of Object.entries(SETTINGS)) {
        await sql`select set_config(${name}, ${value}, false)`.execute(connection);
      }
      for (const job of waiting) await job(connection);
      for (const name of Object.keys(SETTINGS))
        await sql`reset ${sql.id(name)}`.execute(connection);
    });
  await Promise.all(Array.from({ length: LANES }, runLane));
}
