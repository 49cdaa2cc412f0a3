import { promises as fs } from 'node:fs';
import path from 'node:path';
import { FileMigrationProvider, Migrator } from 'kysely/migration';
import type { Database } from './connection.ts';

const MIGRATIONS = path.resolve(import.meta.dirname, '../../migrations');

function createMigrator(db: Database): Migrator {
  const provider = new FileMigrationProvider({ fs, path, migrationFolder: MIGRATIONS });
  return new Migrator({ db, provider });
}

/**
 * Brings the database to the newest version; several processes may call it at once.
 * @returns Names of the migrations applied, in order.
 * @throws Error the first failing migration's; the whole call is rolled back.
 */
export async function migrate(db: Database): Promise<string[]> {
  const { error, results } = await createMigrator(db).migrateToLatest();
  if (error !== undefined) throw error;
  return (results ?? []).map(result => result.migrationName);
}

/** Names of the migrations this code base has and the database lacks, in order. */
export async function pendingMigrations(db: Database): Promise<string[]> {
  const migrations = await createMigrator(db).getMigrations();
  return migrations
    .filter(migration => migration.executedAt === undefined)
    .map(migration => migration.name);
}
