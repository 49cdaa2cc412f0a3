import { type Expression, expressionBuilder, type RawBuilder, sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { Tables } from '../../database/tables.ts';
import {
  conditions,
  isReached,
  type PartnerPaymentFilters,
  type Term,
  textMatches,
} from './payment-filters.ts';
import { sumPartnerPayments } from './totals.ts';

const eb = expressionBuilder<Tables, 'payments'>();

export interface Counts {
  /** Matches that were counted one by one. */
  readonly matching: number;
  /** Matches by merchant or address that are not among the former. */
  readonly reached: number;
}

/** Counts all payments that match, and finds when the newest of those counted one by one was created. */
export async function countMatches(
  db: Connection,
  partnerId: string,
  filters: PartnerPaymentFilters,
): Promise<Counts & { readonly newest: Date | null }> {
  const { matching, reached } = countedApart(db, partnerId, filters);
  return db
    .selectFrom('payments')
    .select(({ fn }) => [
      fn.countAll<number>().as('matching'),
      fn.max<Date | null>('created_at').as('newest'),
      reached.as('reached'),
    ])
    .where(matching)
    .executeTakeFirstOrThrow();
}

/** Whether rollups cover all filters of a search, apart from the text of its term. */
export function isRolledUp({
  createdFrom,
  createdTo,
  idPart,
  hashPart,
}: PartnerPaymentFilters): boolean {
  return [createdFrom, createdTo, idPart, hashPart].every(filter => filter === undefined);
}

/** The condition of the matches that are counted one by one, and the number of the others, which rollups count. */
export function countedApart(db: Connection, partnerId: string, filters: PartnerPaymentFilters) {
  const { term, ...rest } = filters;
  if (term === undefined || !isRolledUp(filters)) {
    return { matching: conditions(partnerId, filters), reached: orZero(sql`0`) };
  }
  // Payments whose own text matches, and which neither merchant nor address would find.
  const isApart = [eb.not(isReached(term.reach)), textMatches(term.text, 'comparison')];
  return {
    matching: eb.and([conditions(partnerId, rest), ...isApart]),
    reached: orZero(sumPartnerPayments(db, partnerId, rest, term.reach)),
  };
}

/** Counts the rows of `found`, and the payments that the term finds by merchant or address. */
export function countFound(
  db: Connection,
  partnerId: string,
  filters: PartnerPaymentFilters,
  ...more: RawBuilder<unknown>[]
) {
  const { term } = filters;
  const reached = term === undefined ? sql`0` : countReached(db, partnerId, filters, term);
  const columns = [
    sql`count(*) filter (where not is_reached) as matching`,
    sql`${orZero(reached)} as reached`,
    ...more,
  ];
  return sql`(select ${sql.join(columns)} from found)`;
}

/** Whether a payment that was found by its text would be found by its merchant or address as well. */
export function isFoundByReach({ term }: PartnerPaymentFilters): RawBuilder<boolean> {
  return sql<boolean>`${term === undefined ? sql`false` : isReached(term.reach)}`;
}

/** The number of payments that the term finds by merchant or address. */
function countReached(
  db: Connection,
  partnerId: string,
  { term: _, ...rest }: PartnerPaymentFilters,
  { reach }: Term,
) {
  if (isRolledUp(rest)) return sumPartnerPayments(db, partnerId, rest, reach);
  const matching = db.selectFrom('payments').where(conditions(partnerId, rest));
  return matching.where(isReached(reach)).select(({ fn }) => fn.countAll<number>().as('payments'));
}

export function orZero(count: Expression<unknown>): RawBuilder<number> {
  return sql<number>`coalesce((${count}), 0)`;
}
