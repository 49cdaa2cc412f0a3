import { promises as fs } from 'node:fs';
import path from 'node:path';
import { FileMigrationProvider, Migrator } from 'kysely/migration';
import type { Database } from './connection.ts';
import { partitionTables, unpartitionedTables } from './partition-tables.ts';

const MIGRATIONS = path.resolve(import.meta.dirname, '../../migrations');

function createMigrator(db: Database): Migrator {
  const provider = new FileMigrationProvider({ fs, path, migrationFolder: MIGRATIONS });
  return new Migrator({ db, provider });
}

/** Names what is left after the migrations: tables that are to be partitioned. */
const PARTITIONS = 'monthly partitions';

/**
 * Brings the database to the newest version; several processes may call it at once. Tables are partitioned once all
 * migrations are committed.
 * @returns Names of the migrations applied, in order.
 * @throws Error the first failing migration's, and all migrations of the call are rolled back; that others have held
 * a table for minutes, and the next call goes on.
 */
export async function migrate(db: Database): Promise<string[]> {
  const applied = await runMigrations(db);
  const partitioned = await partitionTables(db);
  return [...applied, ...(partitioned.length > 0 ? [PARTITIONS] : [])];
}

/** The first half of `migrate`: the migrations, without what follows them. */
export async function runMigrations(db: Database): Promise<string[]> {
  const { error, results } = await createMigrator(db).migrateToLatest();
  if (error !== undefined) throw error;
  return (results ?? []).map(result => result.migrationName);
}

/** Names of the migrations this code base has and the database lacks, in order. */
export async function pendingMigrations(db: Database): Promise<string[]> {
  const migrations = await createMigrator(db).getMigrations();
  const pending = migrations
    .filter(migration => migration.executedAt === undefined)
    .map(migration => migration.name);
  const whole = await unpartitionedTables(db);
  return whole.length > 0 ? [...pending, PARTITIONS] : pending;
}
