import { type RawBuilder, sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import { MONTHS_AHEAD } from '../../database/partition-tables.ts';
import { firstIdOf } from '../payments/events.ts';

/**
 * The months of events, by whose IDs events and their deliveries are partitioned.
 *
 * Bounds are literals of statements: with parameters a plan that does not depend on values would name all
 * partitions, which takes longer than reading from one. They are those of months, so that the texts are few.
 */

/** IDs from one, inclusive, until another, exclusive; null for no bound. */
export interface IdRange {
  readonly from: string | null;
  readonly until: string | null;
}

export const ALL_MONTHS: IdRange = { from: null, until: null };

/** Before and after all IDs that there are. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000';
export const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** The condition that a column's ID is in a range. */
export function isIn(column: string, { from, until }: IdRange): RawBuilder<unknown> {
  if (from === null && until === null) return sql`true`;
  const literal = (id: string) => sql`${sql.lit(id)}::uuid`;
  return isBetween(column, literal(from ?? FIRST_ID), literal(until ?? LAST_ID));
}

/**
 * The condition that a column's ID is `from` one until before another. Each bound is written twice, once with the
 * other's ID, which adds nothing: PostgreSQL prunes partitions by it, but does not read a whole month by the primary
 * key, as it does by a simple bound where its statistics let it expect few rows of the month.
 */
export function isBetween(
  column: string,
  from: RawBuilder<unknown>,
  until: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const id = sql.ref(column);
  return sql`(${id} >= ${from} or ${id} >= ${until}) and (${id} < ${until} or ${id} < ${from})`;
}

/** The months in which IDs are, whatever is in them between. */
export function monthsOf(ids: readonly string[]): IdRange {
  const [first = '', ...others] = ids.map(id => id.toLowerCase()).sort();
  const { from } = monthsBetween(millisecondsOf(first), 0);
  const { until } = monthsBetween(0, millisecondsOf(others.at(-1) ?? first));
  // Those of other versions may be before the first UUIDv7 of their millisecond.
  return { from: from === null || first < from ? first : from, until };
}

/** The first time that no UUIDv7 can have, in milliseconds. */
const TIME_END = 2 ** 48;

/** The IDs of whole months, of which two instants are in the first and in the last; null is no bound. */
export function monthsBetween(first: number | null, last: number | null): IdRange {
  const end = last === null ? TIME_END : startOfMonth(new Date(last), 1);
  return {
    from: first === null ? null : firstIdOf(startOfMonth(new Date(first), 0)),
    until: end < TIME_END ? firstIdOf(end) : null,
  };
}

const millisecondsOf = (id: string) => Number.parseInt(id.replace('-', '').slice(0, 12), 16);

/** The first millisecond of a month in UTC, some months from that of a time. */
const startOfMonth = (time: Date, distance: number) =>
  Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + distance, 1);

/**
 * When the first month begins that has a partition of its own, in milliseconds; it stays where it is, however many
 * are dropped or made later.
 */
const firstMonths = new WeakMap<Connection, number>();

/** Undefined while events are not partitioned. */
async function firstMonth(db: Connection): Promise<number | undefined> {
  const known = firstMonths.get(db);
  if (known !== undefined) return known;
  const { rows } = await sql<{ month: string | null }>`
    select min(right(relname, 6)) as month from pg_inherits join pg_class on pg_class.oid = inhrelid
    where inhparent = 'events'::regclass and relname ~ '_[0-9]{6}$'`.execute(db);
  const month = rows[0]?.month ?? null;
  if (month === null) return undefined;
  const start = Date.UTC(Number(month.slice(0, 4)), Number(month.slice(4)) - 1, 1);
  firstMonths.set(db, start);
  return start;
}

/** Months of events, the oldest first; together they are all IDs. Some may have no partition. */
export async function listEventMonths(db: Connection, now: Date): Promise<IdRange[]> {
  const first = await firstMonth(db);
  if (first === undefined) return [ALL_MONTHS];
  const starts: string[] = [firstIdOf(first)];
  const last = startOfMonth(now, MONTHS_AHEAD);
  for (let n = 1; startOfMonth(new Date(first), n) <= last; n++) {
    starts.push(firstIdOf(startOfMonth(new Date(first), n)));
  }
  return [null, ...starts].map((from, index) => ({ from, until: starts[index] ?? null }));
}
