import { promises as fs } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { sql } from 'kysely';
import { DEFAULT_MIGRATION_TABLE } from 'kysely/migration';
import type { Connection, Database } from './connection.ts';
import { isLockConflict } from './errors.ts';
import { partitionTables, type ReportStep, unpartitionedTables } from './partition-tables.ts';
import {
  HELD,
  LOCK_TRIES,
  MigrationUnfinished,
  untilUnlocked,
  withShortLocks,
} from './short-locks.ts';

const MIGRATIONS = path.resolve(import.meta.dirname, '../../../migrations');

/** The lock of Kysely's migrator, which earlier releases use. */
const LOCK = '3853314791062309107';
/** How often it is tried to take the lock, in milliseconds. */
const LOCK_POLL_MS = 100;

/** What a file of migrations/ exports: `up`, or several steps that are committed one after the other. */
interface Migration {
  readonly up?: Step;
  readonly steps?: readonly (Step | Index)[];
}
type Step = (db: Connection) => Promise<void>;
/** An index that is built while others write, which must not run in a transaction. */
interface Index {
  readonly index: string;
  /** What follows `create index concurrently NAME`. */
  readonly on: string;
}

/** Stands for what follows the migrations, in lists of their names: the partitioning of tables. */
const PARTITIONS = 'monthly partitions';

/**
 * Brings the database to the newest version. Several processes may call it at once, and it resumes where an
 * interrupted call stopped. Tables are partitioned once all migrations are committed.
 * @param report Called before each step.
 * @returns Names of the migrations applied, in order.
 * @throws Error of the first failing step, which is rolled back; MigrationUnfinished when others have held locks on a
 * table for minutes.
 */
export async function migrate(db: Database, report?: ReportStep): Promise<string[]> {
  const applied = await runMigrations(db, LOCK_TRIES, report);
  const partitioned = await partitionTables(db, LOCK_TRIES, report);
  return [...applied, ...(partitioned.length > 0 ? [PARTITIONS] : [])];
}

/**
 * The first half of `migrate`: the migrations, without what follows them. Each step has a transaction of its own, whose
 * locks block others only briefly.
 * @param tries How many times a lock is tried, once a second.
 */
export function runMigrations(
  db: Database,
  tries = LOCK_TRIES,
  report: ReportStep = () => undefined,
): Promise<string[]> {
  return db.connection().execute(async connection => {
    await takeTurn(connection);
    try {
      const executed = await executedMigrations(connection);
      const pending = (await migrationNames()).filter(name => !executed.has(name));
      if (pending.length === 0) return [];
      await sql`
        create table if not exists ${sql.table(DEFAULT_MIGRATION_TABLE)}
        (name varchar(255) primary key, timestamp varchar(255) not null)`.execute(connection);
      for (const [index, name] of pending.entries()) {
        report(index, pending.length, name);
        await apply(connection, name, executed, tries);
      }
      return pending;
    } catch (error) {
      if (!isLockConflict(error)) throw error;
      throw new MigrationUnfinished(`Run "mp migrate" again. ${HELD}`, { cause: error });
    } finally {
      // A lost connection no longer holds the lock.
      await sql`select pg_advisory_unlock(${sql.lit(LOCK)})`
        .execute(connection)
        .catch(() => undefined);
    }
  });
}

/** Polls for the lock: a statement that waited for it would block a concurrent index build by the lock's holder. */
async function takeTurn(db: Connection): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ isTaken: boolean }>`
      select pg_try_advisory_lock(${sql.lit(LOCK)}) as "isTaken"`.execute(db);
    if (rows[0]?.isTaken === true) return;
    await sleep(LOCK_POLL_MS);
  }
}

/** Records completed steps as `NAME/1` and so on, until all of them are done. */
async function apply(
  db: Database,
  name: string,
  executed: ReadonlySet<string>,
  tries: number,
): Promise<void> {
  const file = pathToFileURL(path.join(MIGRATIONS, `${name}.ts`)).href;
  const { up, steps = up === undefined ? [] : [up] }: Migration = await import(file);
  for (const [index, step] of steps.entries()) {
    const noted = `${name}/${index + 1}`;
    if (executed.has(noted)) continue;
    const note = async (tx: Connection) => {
      const isLast = index === steps.length - 1;
      if (isLast) {
        await sql`
          delete from ${sql.table(DEFAULT_MIGRATION_TABLE)}
          where name like ${`${name}/%`}`.execute(tx);
      }
      await sql`
        insert into ${sql.table(DEFAULT_MIGRATION_TABLE)}
        values (${isLast ? name : noted}, ${new Date().toISOString()})`.execute(tx);
    };
    if (typeof step === 'function') {
      await withShortLocks(db, tries, async tx => {
        await step(tx);
        await note(tx);
      });
    } else {
      await untilUnlocked(tries, () => build(db, step));
      await note(db);
    }
  }
}

async function build(db: Connection, { index, on }: Index): Promise<void> {
  // An interrupted build leaves an invalid index.
  await sql`drop index concurrently if exists ${sql.id(index)}`.execute(db);
  await sql`create index concurrently ${sql.id(index)} ${sql.raw(on)}`.execute(db);
}

/**
 * Names of the migrations this code base has and the database lacks, in order. Every start asks for them, so this
 * neither loads the migrations nor reads the columns of all tables, as the migrator does.
 */
export async function pendingMigrations(db: Database): Promise<string[]> {
  const [names, executed] = await Promise.all([migrationNames(), executedMigrations(db)]);
  const pending = names.filter(name => !executed.has(name));
  const whole = await unpartitionedTables(db);
  return whole.length > 0 ? [...pending, PARTITIONS] : pending;
}

/** In their order. */
async function migrationNames(): Promise<string[]> {
  const files = await fs.readdir(MIGRATIONS);
  return files
    .filter(file => file.endsWith('.ts'))
    .map(file => path.parse(file).name)
    .sort();
}

async function executedMigrations(db: Connection): Promise<ReadonlySet<string>> {
  const { rows: found } = await sql`
    select where to_regclass(${DEFAULT_MIGRATION_TABLE}) is not null`.execute(db);
  if (found.length === 0) return new Set();
  const { rows } = await sql<{ name: string }>`
    select name from ${sql.table(DEFAULT_MIGRATION_TABLE)}`.execute(db);
  return new Set(rows.map(({ name }) => name));
}
