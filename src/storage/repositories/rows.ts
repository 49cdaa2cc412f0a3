import {
  type Insertable,
  type Selectable,
  type SelectQueryBuilder,
  type SqlBool,
  sql,
  type Updateable,
} from 'kysely';
import type { Connection } from '../database/connection.ts';
import type { Tables } from '../database/tables.ts';

type Table = keyof Tables;
/** The tables whose `id` is a string. */
type WithId = { [T in Table]: Tables[T] extends { id: string } ? T : never }[Table];
type Row<T extends Table> = Selectable<Tables[T]>;
type Columns<T extends Table> = readonly (keyof Row<T> & string)[];
type Value<T extends Table, C extends keyof Row<T>> = NonNullable<Row<T>[C]>;
/** A value for each of the columns. */
type Values<T extends Table, C extends Columns<T>> = { readonly [K in C[number]]: Value<T, K> };

/** Where a page of a list begins. */
export interface PageCursor {
  readonly direction: 'older' | 'newer';
  /** ID of an entry of the list. The page excludes it. */
  readonly id: string;
}

// Kysely's types need the name of one table. These statements are the same for all.
const typed = (table: Table) => table as 'people';

const have = <C extends string>(columns: readonly C[], values: Readonly<Record<C, unknown>>) =>
  sql<SqlBool>`${sql.join(
    columns.map(column => sql`${sql.ref(column)} = ${values[column]}`),
    sql` and `,
  )}`;

/** Makes a function that reads the row with these values, which no two rows have; undefined if there is none. */
export function findWhere<T extends Table, const C extends Columns<T>>(table: T, ...columns: C) {
  return (db: Connection, values: Values<T, C>) => {
    const query = db.selectFrom(typed(table)).selectAll().where(have(columns, values));
    return query.executeTakeFirst() as Promise<unknown> as Promise<Row<T> | undefined>;
  };
}

/** Makes a function that reads a row by a unique column; undefined if there is none. */
export function findBy<T extends Table, C extends keyof Row<T> & string>(table: T, column: C) {
  const find = findWhere(table, column);
  return (db: Connection, value: Value<T, C>) => find(db, { [column]: value } as Values<T, [C]>);
}

/** Makes a function that reads a row by its ID; undefined if there is none. */
export function findById<T extends WithId>(table: T) {
  const find: unknown = findBy(typed(table), 'id');
  return find as (db: Connection, id: string) => Promise<Row<T> | undefined>;
}

/** Makes a function that deletes the rows with these values, and returns how many there were. */
export function deleteWhere<T extends Table, const C extends Columns<T>>(table: T, ...columns: C) {
  return async (db: Connection, values: Values<T, C>) => {
    const query = db.deleteFrom(typed(table)).where(have(columns, values));
    return Number((await query.executeTakeFirstOrThrow()).numDeletedRows);
  };
}

/** Makes a function that deletes the rows with a value, and returns how many there were. */
export function deleteBy<T extends Table, C extends keyof Row<T> & string>(table: T, column: C) {
  const remove = deleteWhere(table, column);
  return (db: Connection, value: Value<T, C>) => remove(db, { [column]: value } as Values<T, [C]>);
}

/**
 * Makes a function that reads a row and locks it until the transaction ends; undefined if there is none.
 * @param strength `forNoKeyUpdate` lets other transactions insert rows that refer to it.
 */
export function lockById<T extends WithId>(
  table: T,
  strength: 'forUpdate' | 'forNoKeyUpdate' = 'forUpdate',
) {
  return (db: Connection, id: string) => {
    const query = db.selectFrom(typed(table)).selectAll().where('id', '=', id)[strength]();
    return query.executeTakeFirst() as Promise<unknown> as Promise<Row<T> | undefined>;
  };
}

/** Makes a function that inserts a row and returns it with its defaults. */
export function insertInto<T extends Table>(table: T) {
  return (db: Connection, row: Insertable<Tables[T]>) => {
    const query = db
      .insertInto(typed(table))
      .values(row as never)
      .returningAll();
    return query.executeTakeFirstOrThrow() as Promise<unknown> as Promise<Row<T>>;
  };
}

/** Makes a function that changes a row and returns it; undefined if there is none. */
export function updateById<T extends WithId>(table: T) {
  return (db: Connection, id: string, change: Updateable<Tables[T]>) => {
    const query = update(db, table, id, change);
    return query.executeTakeFirst() as Promise<unknown> as Promise<Row<T> | undefined>;
  };
}

/** Makes a function that changes a row and returns it. It throws Kysely's NoResultError if there is none. */
export function updateByIdOrThrow<T extends WithId>(table: T) {
  return (db: Connection, id: string, change: Updateable<Tables[T]>) => {
    const query = update(db, table, id, change);
    return query.executeTakeFirstOrThrow() as Promise<unknown> as Promise<Row<T>>;
  };
}

function update(db: Connection, table: WithId, id: string, change: unknown) {
  return db
    .updateTable(typed(table))
    .set(change as never)
    .where('id', '=', id)
    .returningAll();
}

/**
 * Makes a function that lists the newest rows of a table whose IDs begin with their time: at most `limit`; with
 * `before`, only rows older than that one.
 */
export function listNewest<T extends WithId>(table: T) {
  return (db: Connection, { limit, before }: { limit: number; before?: string | undefined }) => {
    let query = db.selectFrom(typed(table)).selectAll().orderBy('id', 'desc').limit(limit);
    if (before !== undefined) query = query.where('id', '<', before);
    return query.execute() as Promise<unknown> as Promise<Row<T>[]>;
  };
}

/** The order of rows by their creation, for `listBy`. */
export const NEWEST_FIRST = ['created_at desc', 'id desc'] as const;

/**
 * Makes a function that lists the rows with one value in a column, at most `limit`.
 * @param order Columns in which they are sorted, each may end with ` desc`.
 */
export function listBy<T extends Table>(
  table: T,
  column: keyof Tables[T] & string,
  order: readonly `${keyof Tables[T] & string}${'' | ' desc'}`[],
  limit: number,
) {
  return (db: Connection, value: string) => {
    let query = db.selectFrom(typed(table)).selectAll().where(sql.ref(column), '=', value);
    for (const each of order) {
      const [name = '', direction = 'asc'] = each.split(' ');
      query = query.orderBy(sql.ref(name), direction as 'asc' | 'desc');
    }
    return query.limit(limit).execute() as Promise<unknown> as Promise<Row<T>[]>;
  };
}

/** Whether a query finds a row. */
export async function hasRow<D, T extends keyof D, O>(
  query: SelectQueryBuilder<D, T, O>,
): Promise<boolean> {
  return (await query.limit(1).executeTakeFirst()) !== undefined;
}

interface Count {
  readonly count: number;
}

/** How many rows a query without columns finds. */
export async function countRows<D, T extends keyof D>(
  query: SelectQueryBuilder<D, T, Record<never, never>>,
): Promise<number> {
  const counted = query.select(({ fn }) => fn.countAll<number>().as('count')).$castTo<Count>();
  return (await counted.executeTakeFirstOrThrow()).count;
}
