import { type RawBuilder, sql } from 'kysely';
import { firstIdOf } from '../payments/events.ts';

/**
 * The months of events: events and their deliveries are partitioned by the events' IDs.
 *
 * In statements that are planned each time, bounds are literals: with parameters, a generic plan would name all
 * partitions, and making it takes longer than reading from one. The bounds are those of months, so that there are few
 * statement texts. Prepared statements have parameters, and PostgreSQL prunes their partitions when they run.
 */

/** IDs from one, inclusive, until another, exclusive; null for no bound. */
export interface IdRange {
  readonly from: string | null;
  readonly until: string | null;
}

export const ALL_MONTHS: IdRange = { from: null, until: null };

/** The condition that a column's ID is in a range, for a query in which another index condition finds a few rows. */
export function isIn(column: string, { from, until }: IdRange): RawBuilder<unknown> {
  const id = sql.ref(column);
  return sql.join(
    [
      sql`true`,
      ...(from === null ? [] : [sql`${id} >= ${sql.lit(from)}::uuid`]),
      ...(until === null ? [] : [sql`${id} < ${sql.lit(until)}::uuid`]),
    ],
    sql` and `,
  );
}

/**
 * The condition that a column's ID is in a range, in a form that no index scan uses. Planning it for many partitions
 * takes long, so use it for few of them, or in prepared statements.
 */
export function isAmong(column: string, range: IdRange): RawBuilder<unknown> {
  if (range.from === null && range.until === null) return sql`true`;
  const { from, until } = boundsOf(range);
  return isBetween(column, sql`${sql.lit(from)}::uuid`, sql`${sql.lit(until)}::uuid`);
}

/**
 * The condition that a column's ID is at least `from` and below `until`, in a form that no index scan uses. Each bound
 * is written twice, once with the other bound's ID, which adds nothing. PostgreSQL prunes partitions by it, but does
 * not read a whole month through an index, as it would by a simple bound if its statistics let it expect few rows in
 * the month. The two operators differ, since PostgreSQL merges two conditions with the same operator into one for an
 * index.
 */
export function isBetween(
  column: string,
  from: RawBuilder<unknown>,
  until: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const id = sql.ref(column);
  return sql`(${id} >= ${from} or ${id} > ${until}) and (${id} < ${until} or ${id} <= ${from})`;
}

/** Lower and higher than all IDs. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000';
export const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** A range with IDs in place of no bound. */
export function boundsOf({ from, until }: IdRange): { from: string; until: string } {
  return { from: from ?? FIRST_ID, until: until ?? LAST_ID };
}

/** The range of months that contains all of the IDs. */
export function monthsOf(ids: readonly string[]): IdRange {
  const [first = '', ...others] = ids.map(id => id.toLowerCase()).sort();
  const { from } = monthsBetween(millisecondsOf(first), 0);
  const { until } = monthsBetween(0, millisecondsOf(others.at(-1) ?? first));
  // IDs of other UUID versions may be lower than the first UUIDv7 of their millisecond.
  return { from: from === null || first < from ? first : from, until };
}

/** The first time that no UUIDv7 can have, in milliseconds. */
const TIME_END = 2 ** 48;

/** The IDs of whole months, from the month of `first` to the month of `last`; null for no bound. */
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
