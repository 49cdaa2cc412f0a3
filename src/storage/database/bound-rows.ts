import { type RawBuilder, sql } from 'kysely';

/** Columns of rows that a statement binds: the type of each, and its value for a row. */
export type BoundColumns<R> = Readonly<
  Record<string, readonly [type: string, value: (row: R) => unknown]>
>;

/**
 * A query for the rows, which are bound as one array for each column. PostgreSQL reads 16 creations in 0.6 of the time
 * that a JSON list of them takes, which repeats every name in every row, and pg writes them in 0.7 of it.
 * @param array The array of a column, from `bindRows`, or its placeholder.
 */
export function selectBoundRows(
  columns: BoundColumns<never>,
  array: (column: string) => unknown,
): RawBuilder<unknown> {
  const names = sql.join(Object.keys(columns).map(name => sql.ref(name)));
  const arrays = Object.entries(columns).map(
    ([name, [type]]) => sql`${array(name)}::${sql.raw(type)}[]`,
  );
  return sql`select ${names} from unnest(${sql.join(arrays)}) as row (${names})`;
}

/** The array of each column. */
export function bindRows<R>(
  columns: BoundColumns<R>,
  rows: readonly R[],
): Readonly<Record<string, unknown[]>> {
  return Object.fromEntries(
    Object.entries(columns).map(([name, [, value]]) => [name, rows.map(row => value(row))]),
  );
}

/** The same for a statement that is not prepared. */
export function selectRows<R>(columns: BoundColumns<R>, rows: readonly R[]): RawBuilder<unknown> {
  const arrays = bindRows(columns, rows);
  return selectBoundRows(columns, name => arrays[name]);
}
