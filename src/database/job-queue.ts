import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import pg from 'pg';
import type { Connection } from './connection.ts';
import { KEEP_ALIVE_DELAY_MS } from './session.ts';

/** Newest migration of the graphile-worker that is installed; a test compares it. */
const NEWEST_MIGRATION = 20;

/** The queue's schema in lists of migrations. */
const NAME = `graphile_worker_${String(NEWEST_MIGRATION).padStart(6, '0')}`;

/** Longest that closing waits for connections in use, in milliseconds. */
const CLOSE_TIMEOUT_MS = 1_000;

/** Opens the job queue's own pool, so that nothing else can occupy all its connections. */
export function openQueuePool(
  databaseUrl: string,
  poolSize: number,
  onError: (error: Error) => void,
): pg.Pool {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: poolSize,
    application_name: 'eps-queue',
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
  });
  pool.on('error', onError);
  // As in connect(): a connection that breaks in use fails its query and must not end the process.
  pool.on('connect', client => client.on('error', () => undefined));
  return pool;
}

/** Closes the pool, without waiting long for connections that the queue has not released. */
export async function closeQueuePool(pool: pg.Pool): Promise<void> {
  await Promise.race([pool.end(), sleep(CLOSE_TIMEOUT_MS, undefined, { ref: false })]);
}

/**
 * Brings the job queue's own schema to the newest version; several processes may call it at once.
 * @returns Its name when it was older or missing, as `migrate` does.
 */
export async function migrateJobQueue(databaseUrl: string): Promise<string[]> {
  const pool = openQueuePool(databaseUrl, 1, () => undefined);
  try {
    // Imported here, since loading it takes longer than most `mp` commands take to run.
    const [{ runMigrations }, { queueLogger }] = await Promise.all([
      import('graphile-worker'),
      import('./job-queue-log.ts'),
    ]);
    const before = await newestMigration(pool);
    await runMigrations({ pgPool: pool, logger: queueLogger({ error: () => undefined }) });
    return before < NEWEST_MIGRATION ? [NAME] : [];
  } finally {
    await closeQueuePool(pool);
  }
}

/** The name of the job queue's schema, if the database lacks it or has an older one. */
export async function pendingJobQueueMigrations(db: Connection): Promise<string[]> {
  const exists = await sql<{ exists: boolean }>`${sql.raw(EXISTS)}`.execute(db);
  if (exists.rows[0]?.exists !== true) return [NAME];
  const { rows } = await sql<{ id: number }>`${sql.raw(NEWEST)}`.execute(db);
  return (rows[0]?.id ?? 0) < NEWEST_MIGRATION ? [NAME] : [];
}

const EXISTS = `select to_regclass('graphile_worker.migrations') is not null as exists`;
const NEWEST = 'select coalesce(max(id), 0) as id from graphile_worker.migrations';

async function newestMigration(pool: pg.Pool): Promise<number> {
  const exists = await pool.query<{ exists: boolean }>(EXISTS);
  if (exists.rows[0]?.exists !== true) return 0;
  const { rows } = await pool.query<{ id: number }>(NEWEST);
  return rows[0]?.id ?? 0;
}
