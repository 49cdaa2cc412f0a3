import { type RawBuilder, sql } from 'kysely';
import { firstIdOf } from '../payments/events.ts';

/**
 * The months of events, by whose IDs events and their deliveries are partitioned.
 *
 * Bounds are literals of statements that are planned each time: with parameters a plan that does not depend on
 * values would name all partitions, and making it takes longer than reading from one. They are those of months, so that
 * the texts are few. Prepared statements have parameters, by which partitions are left out when they run.
 */

/** IDs from one, inclusive, until another, exclusive; null for no bound. */
export interface IdRange {
  readonly from: string | null;
  readonly until: string | null;
}

export const ALL_MONTHS: IdRange = { from: null, until: null };

/** The condition that a column's ID is in a range, where another index condition finds a few rows. */
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
 * The condition that a column's ID is in a range, where it must not be read by. Planning such a condition of many
 * partitions takes long, so that it is for few of them, or for prepared statements.
 */
export function isAmong(column: string, range: IdRange): RawBuilder<unknown> {
  if (range.from === null && range.until === null) return sql`true`;
  const { from, until } = boundsOf(range);
  return isBetween(column, sql`${sql.lit(from)}::uuid`, sql`${sql.lit(until)}::uuid`);
}

/**
 * The condition that a column's ID is from one, inclusive, until another, exclusive, where it must not be read by.
 * Each bound is written twice, once with the other one's ID, which adds nothing: PostgreSQL prunes partitions by it,
 * but does not read a whole month by the bound, as it does by a simple one where its statistics let it expect few rows
 * of the month. The two operators differ, since it makes one condition for an index of two with the same.
 */
export function isBetween(
  column: string,
  from: RawBuilder<unknown>,
  until: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const id = sql.ref(column);
  return sql`(${id} >= ${from} or ${id} > ${until}) and (${id} < ${until} or ${id} <= ${from})`;
}

/** Before and after all IDs that there are. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000';
export const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** A range with IDs in place of no bound. */
export function boundsOf({ from, until }: IdRange): { from: string; until: string } {
  return { from: from ?? FIRST_ID, until: until ?? LAST_ID };
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
