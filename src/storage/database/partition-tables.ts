import { sql } from 'kysely';
import type { Connection, Database } from './connection.ts';
import { isLockConflict } from './errors.ts';
import { HELD, LOCK_TRIES, MigrationUnfinished, withShortLocks } from './short-locks.ts';
import { type Boundary, endOf, type PartitionedTable, splitTable } from './split-table.ts';

/**
 * Partitions the tables whose rows are kept for some months, so that old months are dropped instead of deleted row by
 * row. The existing rows of a table become its first partition without being copied. That needs only a brief lock,
 * since the rows are validated before without one. Releases that know nothing of partitions go on reading and writing
 * during and after it.
 */

const TABLES: readonly PartitionedTable[] = [
  { name: 'request_log', key: 'at', references: {} },
  {
    name: 'events',
    key: 'id',
    references: { merchant_id: 'merchants', payment_id: 'payments' },
  },
  {
    name: 'webhook_deliveries',
    key: 'event_id',
    references: { endpoint_id: 'webhook_endpoints' },
  },
  { name: 'webhook_attempts', key: 'id', references: {} },
];

/** How many months are made ahead of the current one. */
export const MONTHS_AHEAD = 3;

/** Called before a step: how many are done, how many there are, and what this one does. */
export type ReportStep = (done: number, total: number, doing: string) => void;

/** Names of the tables that are not partitioned yet, or do not exist, in order. */
export async function unpartitionedTables(db: Connection): Promise<string[]> {
  const names = TABLES.map(({ name }) => name);
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = current_schema()::regnamespace and relkind = 'p' and relname = any(${names})`.execute(
    db,
  );
  return names.filter(name => !rows.some(row => row.name === name));
}

/**
 * Partitions the tables that are not yet. Several processes may call it at once, and it resumes where an interrupted
 * call stopped. Rows until the end of next month form one partition; each later month has its own.
 * @param db A connection of the owner, without a statement timeout.
 * @param tries How many times a lock is tried, once a second.
 * @returns Names of the tables that this call has changed.
 * @throws MigrationUnfinished when others have held locks on a table for that long, or when writes of later months are
 * refused until a call succeeds; Error when rows violate their constraints.
 */
export function partitionTables(
  db: Database,
  tries = LOCK_TRIES,
  report: ReportStep = () => undefined,
): Promise<string[]> {
  return db.connection().execute(async connection => {
    await sql`select pg_advisory_lock(hashtextextended('partition tables', 0))`.execute(connection);
    try {
      const names = await unpartitionedTables(connection);
      const tables = TABLES.filter(({ name }) => names.includes(name));
      if (tables.length === 0) return [];
      const end = await boundary(connection);
      try {
        for (const table of tables)
          await withShortLocks(connection, tries, tx => limit(tx, table, end));
        for (const [index, table] of tables.entries()) {
          report(index, tables.length, `validating ${table.name}`);
          await validate(connection, table);
        }
        for (const table of tables)
          await withShortLocks(connection, tries, tx => splitTable(tx, table, end));
      } catch (error) {
        const isHeld = isLockConflict(error);
        const reason = isHeld ? HELD : String(error);
        if (await lift(connection, tries, end).catch(() => false)) {
          if (!isHeld) throw error;
          throw new MigrationUnfinished(`Run "mp migrate" again. ${reason}`, { cause: error });
        }
        throw new MigrationUnfinished(
          `Run "mp migrate" again: writes of ${end.at.toISOString()} and later are refused until it has succeeded. ${reason}`,
          { cause: error },
        );
      }
      await withShortLocks(connection, tries, tx =>
        sql`select make_month_partitions(now() + ${MONTHS_AHEAD} * interval '1 month')`.execute(tx),
      );
      return names;
    } finally {
      // A lost connection no longer holds the lock.
      await sql`select pg_advisory_unlock(hashtextextended('partition tables', 0))`
        .execute(connection)
        .catch(() => undefined);
    }
  });
}

/** Prefix of the constraint that bounds what becomes the first partition; the month follows, as YYYYMM. */
const LIMIT = 'before_';

/** The boundary that an earlier call has chosen, or the month after next. */
async function boundary(db: Connection): Promise<Boundary> {
  const { rows } = await sql<Boundary>`
    with chosen as (
      select coalesce(
        (select min(to_timestamp(right(conname, 6), 'YYYYMM')) from pg_constraint
         where connamespace = current_schema()::regnamespace and conname ~ ${`^${LIMIT}[0-9]{6}$`}
           -- An earlier call that got no further may have split request_log at an earlier month.
           and conrelid is distinct from to_regclass('request_log_before')),
        date_trunc('month', now()) + interval '2 months') as at)
    select ${LIMIT} || to_char(at, 'YYYYMM') as name, at, first_id_of(at)::text as id from chosen`.execute(
    db,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the database does not say the time');
  return row;
}

/** Keeps rows of later months out of a table; rows that are there already are not checked yet. */
async function limit(db: Connection, table: PartitionedTable, end: Boundary): Promise<void> {
  const { name } = end;
  const { rows } = await sql`
    select from pg_constraint where conrelid = ${table.name}::regclass and conname = ${name}`.execute(
    db,
  );
  if (rows.length > 0) return;
  await sql`
    alter table ${sql.table(table.name)} add constraint ${sql.id(name)}
    check (${sql.ref(table.key)} < ${endOf(table, end)}) not valid`.execute(db);
}

/**
 * Lets tables that are not partitioned accept rows of later months again; otherwise writes would be refused once those
 * months come. Once events are partitioned, deliveries and attempts stay bounded, since their months must be those of
 * events.
 * @returns Whether all tables accept later months.
 */
async function lift(db: Database, tries: number, { name: constraint }: Boundary): Promise<boolean> {
  const whole = await unpartitionedTables(db);
  if (!whole.includes('events')) return whole.length === 0;
  const { rows: bounded } = await sql<{ name: string }>`
    select conrelid::regclass::text as name from pg_constraint
    where conname = ${constraint} and conrelid = any(${whole}::text[]::regclass[])`.execute(db);
  for (const { name } of bounded) {
    await withShortLocks(db, tries, tx =>
      sql`alter table ${sql.table(name)} drop constraint ${sql.id(constraint)}`.execute(tx),
    );
  }
  return true;
}

/** Validates the constraints for existing rows, while others read and write. */
async function validate(db: Connection, { name }: PartitionedTable): Promise<void> {
  const { rows } = await sql<{ constraint: string }>`
    select conname as constraint from pg_constraint
    where conrelid = ${name}::regclass and contype = 'c' and not convalidated`.execute(db);
  for (const { constraint } of rows) {
    await sql`alter table ${sql.table(name)} validate constraint ${sql.id(constraint)}`.execute(db);
  }
}
