import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { openEmbeddedDatabase } from '#runtime/development/embedded-postgres.ts';
import { connect, type Database } from '#storage/database/connection.ts';
import { migrate } from '#storage/database/migrate.ts';
import type { Resources } from './resources.ts';

/** A migrated database of the bench. */
export interface BenchDatabase {
  readonly url: string;
  readonly db: Database;
}

/** Settings for long runs; durability is PostgreSQL's default. */
export const DURABLE = { shared_buffers: '1GB', max_wal_size: '8GB', max_connections: '200' };

/**
 * Settings for comparisons. On a virtual disk a flush takes longer than the rest of a request, on both
 * sides, and would hide their differences; a checkpoint would slow only the contender whose turn it is.
 */
export const UNDISTURBED = { ...DURABLE, fsync: 'off', checkpoint_timeout: '1h' };

/** Settings for histories of millions of payments. */
export const THROW_AWAY = {
  fsync: 'off',
  full_page_writes: 'off',
  shared_buffers: '2GB',
  max_wal_size: '8GB',
  effective_cache_size: '8GB',
};

/** Starts a PostgreSQL server and returns its URL. */
export async function startPostgres(
  { directory, defer }: Resources,
  settings: Record<string, string>,
): Promise<string> {
  const server = await openEmbeddedDatabase({
    directory: join(directory, 'database'),
    holder: 'service',
    settings,
  });
  defer(() => server.stop());
  return server.url;
}

/** The process ID of the server that `startPostgres` has started. */
export async function postgresPid({ directory }: Resources): Promise<number> {
  return Number.parseInt(
    await readFile(join(directory, 'database', 'postgres', 'postmaster.pid'), 'utf8'),
    10,
  );
}

/** Creates and migrates a database. */
export async function createDatabase(
  { defer }: Resources,
  serverUrl: string,
  name: string,
): Promise<BenchDatabase> {
  const open = (database: string) => {
    const url = new URL(serverUrl);
    url.pathname = `/${database}`;
    const db = connect({
      url: url.href,
      poolSize: 4,
      applicationName: 'bench',
      statementTimeoutMs: 0,
      onIdleError: () => undefined,
    });
    return { url: url.href, db };
  };
  const admin = open('postgres');
  await sql`create database ${sql.id(name)}`.execute(admin.db);
  await admin.db.destroy();
  const database = open(name);
  // Not awaited: a statement that inserts millions of rows ends only with its server.
  defer(() => void database.db.destroy().catch(() => undefined));
  await migrate(database.db);
  return database;
}
