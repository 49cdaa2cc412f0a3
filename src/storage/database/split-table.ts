import { sql } from 'kysely';
import type { Connection } from './connection.ts';

/** A partitioned table. */
export interface PartitionedTable {
  readonly name: string;
  /** Column that the month is taken from. A delivery is in the month of its event. */
  readonly key: 'id' | 'event_id' | 'at';
  /** Foreign keys of the whole table, as column and table. Each month has those between partitioned tables itself. */
  readonly references: Readonly<Record<string, string>>;
}

/** Where the first partition, with the rows stored so far, ends and the first monthly one begins. */
export interface Boundary {
  /** Name of the constraint. */
  readonly name: string;
  readonly at: Date;
  /** The lowest ID of that time. */
  readonly id: string;
}

/** The end of the first partition, as a value of its key. */
export const endOf = ({ key }: PartitionedTable, { at, id }: Boundary) =>
  sql.lit(key === 'at' ? at.toISOString() : id);

/** Replaces a table by a partitioned one that has it as the first partition, in the caller's transaction. */
export async function splitTable(
  db: Connection,
  table: PartitionedTable,
  end: Boundary,
): Promise<void> {
  const { name, key, references } = table;
  const before = `${name}_before`;
  // First the table itself, since its writers lock the rows that its foreign keys reference afterwards. Then those
  // tables, at once in the mode that attaching needs in the end: a session between two locks of one table deadlocks.
  for (const each of [name, ...Object.values(references)]) {
    await sql`lock table ${sql.table(each)} in access exclusive mode`.execute(db);
  }
  const { indexes, triggers, grants } = await describe(db, name);
  for (const index of indexes) {
    await sql`alter index ${sql.id(index.name)} rename to ${sql.id(`${index.name}_before`)}`.execute(
      db,
    );
  }
  // Row triggers come back with those of the partitioned table.
  for (const trigger of triggers.filter(({ forRows }) => forRows)) {
    await sql`drop trigger ${sql.id(trigger.name)} on ${sql.table(name)}`.execute(db);
  }
  await sql`alter table ${sql.table(name)} rename to ${sql.id(before)}`.execute(db);
  await sql`
    create table ${sql.table(name)} (like ${sql.table(before)} including all excluding indexes)
    partition by range (${sql.ref(key)})`.execute(db);
  await sql`alter table ${sql.table(name)} drop constraint ${sql.id(end.name)}`.execute(db);
  for (const { definition } of indexes.filter(({ holds }) => holds(key))) {
    await sql.raw(definition).execute(db);
  }
  for (const [column, other] of Object.entries(references)) {
    await sql`
      alter table ${sql.table(name)}
      add foreign key (${sql.ref(column)}) references ${sql.table(other)} (id)`.execute(db);
  }
  for (const { definition } of [...triggers, ...grants]) await sql.raw(definition).execute(db);
  await sql`
    alter table ${sql.table(name)} attach partition ${sql.table(before)}
    for values from (minvalue) to (${endOf(table, end)})`.execute(db);
  await sql`select make_month_partition(${name}, ${end.at})`.execute(db);
}

interface Described {
  readonly indexes: readonly {
    readonly name: string;
    readonly definition: string;
    /** Whether a table that is partitioned by the column can have the index: a unique one must contain the column. */
    readonly holds: (column: string) => boolean;
  }[];
  readonly triggers: readonly {
    readonly name: string;
    readonly definition: string;
    readonly forRows: boolean;
  }[];
  readonly grants: readonly { readonly definition: string }[];
}

/** Statements that recreate the table's indexes, triggers and grants for the table that takes its name. */
async function describe(db: Connection, table: string): Promise<Described> {
  const { rows: indexes } = await sql<{
    name: string;
    definition: string;
    isUnique: boolean;
    columns: string[];
  }>`
    select relname as name, indisunique as "isUnique",
           array(select attname::text from pg_attribute
                 where attrelid = indrelid and attnum = any(indkey::smallint[])) as columns,
           case when indisprimary
             then format('alter table %I add constraint %I %s', ${table}::text, relname,
                         (select pg_get_constraintdef(oid) from pg_constraint
                          where conindid = indexrelid and contype = 'p'))
             else pg_get_indexdef(indexrelid) end as definition
    from pg_index join pg_class on pg_class.oid = indexrelid
    where indrelid = ${table}::regclass`.execute(db);
  const { rows: triggers } = await sql<Described['triggers'][number]>`
    select tgname as name, pg_get_triggerdef(oid) as definition,
           tgtype & 1 = 1 as "forRows" -- TRIGGER_TYPE_ROW of PostgreSQL's src/include/catalog/pg_trigger.h.
    from pg_trigger where tgrelid = ${table}::regclass and not tgisinternal`.execute(db);
  const { rows: grants } = await sql<{ definition: string }>`
    select format('grant %s on %I to %s', string_agg(privilege_type, ', '), ${table}::text,
                  grantee::regrole) as definition
    from pg_class, aclexplode(relacl)
    where oid = ${table}::regclass and grantee <> relowner and grantee <> 0 group by grantee`.execute(
    db,
  );
  return {
    indexes: indexes.map(({ isUnique, columns, ...index }) => ({
      ...index,
      holds: column => !isUnique || columns.includes(column),
    })),
    triggers,
    grants,
  };
}
