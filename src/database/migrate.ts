import { promises as fs } from 'node:fs';
import path from 'node:path';
import { sql } from 'kysely';
import { DEFAULT_MIGRATION_TABLE, FileMigrationProvider, Migrator } from 'kysely/migration';
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

/**
 * Names of the migrations this code base has and the database lacks, in order. Every start asks for them, so this
 * neither loads the migrations nor reads the columns of all tables, as the migrator does.
 */
export async function pendingMigrations(db: Database): Promise<string[]> {
  const [files, executed] = await Promise.all([fs.readdir(MIGRATIONS), executedMigrations(db)]);
  const pending = files
    .filter(file => file.endsWith('.ts'))
    .map(file => path.parse(file).name)
    .filter(name => !executed.has(name))
    .sort();
  const whole = await unpartitionedTables(db);
  return whole.length > 0 ? [...pending, PARTITIONS] : pending;
}

async function executedMigrations(db: Database): Promise<ReadonlySet<string>> {
  const { rows: found } = await sql`
    select where to_regclass(${DEFAULT_MIGRATION_TABLE}) is not null`.execute(db);
  if (found.length === 0) return new Set();
  const { rows } = await sql<{ name: string }>`
    select name from ${sql.table(DEFAULT_MIGRATION_TABLE)}`.execute(db);
  return new Set(rows.map(({ name }) => name));
}
