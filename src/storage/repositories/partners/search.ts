import { type Expression, expressionBuilder, type RawBuilder, sql } from 'kysely';
import type { Connection, Database } from '../../database/connection.ts';
import type { Tables } from '../../database/tables.ts';
import {
  columnConditions,
  ownTextConditions,
  type PartnerPaymentFilters,
} from './payment-filters.ts';
import { type PageWindow, type PartnerPayment, withNames } from './payments.ts';
import { type Counts, countedApart, countFound, isFoundByReach, orZero } from './search-counts.ts';
import { newestPayments, pageInOrder, pageOfFound } from './search-pages.ts';
import { sumCreatedPayments } from './totals.ts';

/**
 * The ways to search: through the newest payments, in the order of their index; by the trigram index of texts; and by
 * comparing the texts of each payment, which PostgreSQL does with parallel workers.
 */

/** A page of the payments that match, newest first, and how many match. */
export interface Matches {
  readonly payments: readonly PartnerPayment[];
  readonly total: number;
}

/** Matches among the newest payments. The total counts only these, plus what rollups count. */
export interface NewestMatches extends Matches {
  /** How many payments were looked at: all that there are, if fewer than the depth. */
  readonly looked: number;
  /** How many of them match, without those that rollups count. */
  readonly matching: number;
  /** How many payments were created on the days that the search spans. */
  readonly created: number;
}

const eb = expressionBuilder<Tables, 'payments'>();

/**
 * Payments that match, newest first. They are looked at in this order until the page is full.
 * @param depth How many of the newest are looked at; all unless given.
 */
export function listMatches(
  db: Connection,
  partnerId: string,
  filters: PartnerPaymentFilters,
  window: PageWindow,
  depth?: number,
): Promise<PartnerPayment[]> {
  return withNames(db, pageInOrder(db, partnerId, filters, window, depth)).execute();
}

/** Finds matches among the newest `depth` payments, newest first, and their counts, in one statement. */
export function lookAmongNewest(
  db: Connection,
  partnerId: string,
  filters: PartnerPaymentFilters,
  window: PageWindow,
  depth: number,
): Promise<NewestMatches> {
  const { matching, reached } = countedApart(db, partnerId, filters);
  const counts = db
    .selectFrom(newestPayments(db, partnerId, filters, depth).as('newest'))
    .select(({ fn }) => [
      fn.countAll<number>().as('looked'),
      fn.countAll<number>().filterWhere(matching).as('matching'),
      reached.as('reached'),
      orZero(sumCreatedPayments(db, partnerId, filters)).as('created'),
    ]);
  const page = withNames(db, pageInOrder(db, partnerId, filters, window, depth));
  return readWithPage<Pick<NewestMatches, 'looked' | 'created'>>(db, sql``, sql`(${counts})`, page);
}

/** Payments that any of several merchants or addresses has, newest first, each by its own index. */
export function listOfSeveral(
  db: Connection,
  partnerId: string,
  filters: PartnerPaymentFilters,
  window: PageWindow,
): Promise<PartnerPayment[]> {
  return withNames(db, pageOfFound(partnerId, filters, window)).execute();
}

/**
 * A page of the payments that match a text, newest first, with their total, from those that the index of texts finds.
 * @param most How many of these are read at most, of all partners.
 * @returns undefined when there are more.
 */
export async function findMatches(
  db: Connection,
  partnerId: string,
  filters: PartnerPaymentFilters,
  window: PageWindow,
  most: number,
): Promise<Matches | undefined> {
  const indexed = db
    .selectFrom('payments')
    .select(['id', 'created_at', 'partner_id', 'merchant_id', 'address', 'status', 'blockchain_id'])
    .where(eb.and([eb('partner_id', 'is not', null), ...ownTextConditions(filters, 'index')]))
    .limit(most + 1);
  const queries = sql`
    with indexed as materialized (${indexed}), found as materialized (
      select id, created_at, ${isFoundByReach(filters)} as is_reached
      from indexed where ${eb.and(columnConditions(partnerId, filters))}
    )`;
  const counts = countFound(db, partnerId, filters, sql`(select count(*) from indexed) as indexed`);
  const page = withNames(db, pageOfFound(partnerId, filters, window));
  const read = await readWithPage<{ indexed: number }>(db, queries, counts, page);
  return read.indexed > most ? undefined : read;
}

/** Like `findMatches`, by comparing the texts of each payment. For few matches, as all are kept until the end. */
export function collectMatches(
  db: Connection,
  partnerId: string,
  filters: PartnerPaymentFilters,
  window: PageWindow,
): Promise<Matches> {
  const own = ownTextConditions(filters, 'comparison');
  const found = db
    .selectFrom('payments')
    .select(['id', 'created_at', isFoundByReach(filters).as('is_reached')])
    .where(eb.and([...columnConditions(partnerId, filters), ...own]));
  const page = withNames(db, pageOfFound(partnerId, filters, window));
  const queries = sql`with found as materialized (${found})`;
  return readWithPage(db, queries, countFound(db, partnerId, filters), page);
}

/**
 * Settings for comparing each payment. It reads an index that covers all compared columns, in its order, since a bitmap
 * scan reads the table instead, which takes three times as long. Rows from parallel workers cost nothing, since the
 * planner always expects a third of all payments to match.
 */
const COMPARING = { enable_bitmapscan: 'off', parallel_tuple_cost: '0' };

/** Runs `work`, which compares payments one by one, in one snapshot. */
export function comparing<T>(db: Database, work: (tx: Connection) => Promise<T>): Promise<T> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async tx => {
      const settings = Object.entries(COMPARING).map(
        ([name, value]) => sql`set_config(${name}, ${value}, true)`,
      );
      await sql`select ${sql.join(settings)}`.execute(tx);
      return work(tx);
    });
}

/** Reads counts, a row, and a page of payments in one statement, which begins with the named queries. */
async function readWithPage<C>(
  db: Connection,
  queries: RawBuilder<unknown>,
  counts: RawBuilder<unknown>,
  page: Expression<PartnerPayment>,
): Promise<C & Counts & Matches> {
  const { rows } = await sql<C & Counts & (PartnerPayment | { id: null })>`
    ${queries} select * from ${counts} as counts left join ${page} as page on true
    order by page.created_at desc, page.id desc`.execute(db);
  const [first] = rows;
  if (first === undefined) throw new Error('counts have one row');
  const payments = rows.filter((row): row is C & Counts & PartnerPayment => row.id !== null);
  return { ...first, payments, total: first.matching + first.reached };
}
