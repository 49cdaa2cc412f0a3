import {
  type AliasableExpression,
  type Expression,
  expressionBuilder,
  type RawBuilder,
  type SqlBool,
  sql,
} from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { Payment } from '../../database/payment-tables.ts';
import type { Tables } from '../../database/tables.ts';
import {
  conditions,
  hasText,
  isReached,
  leadOf,
  type PartnerPaymentFilters,
  type Term,
  textMatches,
} from './payment-filters.ts';
import { NEWEST_FIRST, type PageWindow, type PartnerPayment, withNames } from './payments.ts';
import { sumCreatedPayments, sumPartnerPayments } from './totals.ts';

/**
 * The two ways to search: through the newest payments, in the order of their index, which suits what many of them
 * match; and by the indexes of texts, merchants and addresses, which suits what few match.
 */

/** A page of the payments that match, newest first, and how many match. */
export interface Matches {
  readonly payments: readonly PartnerPayment[];
  readonly total: number;
}

/** What the newest payments tell; the total is of these alone, but for what rollups tell. */
export interface NewestMatches extends Matches {
  /** How many payments were looked at; fewer than the depth are all that there are. */
  readonly looked: number;
  /** How many of them match, without those that rollups count. */
  readonly matching: number;
  /** How many payments there are in the time of the search, whole days. */
  readonly created: number;
}

const eb = expressionBuilder<Tables, 'payments'>();

/**
 * Those of the newest payments that match, newest first.
 * @param depth How many are looked at.
 */
export function listAmongNewest(
  db: Connection,
  partnerId: string,
  filters: PartnerPaymentFilters,
  window: PageWindow,
  depth: number,
): Promise<PartnerPayment[]> {
  return withNames(db, pageOfNewest(db, partnerId, filters, window, depth)).execute();
}

/** Like `listAmongNewest`, with what is known of the total, in one statement. */
export function countAmongNewest(
  db: Connection,
  partnerId: string,
  filters: PartnerPaymentFilters,
  window: PageWindow,
  depth: number,
): Promise<NewestMatches> {
  const { term, ...rest } = filters;
  const isApart = term !== undefined && isRolledUp(filters);
  const matching = isApart
    ? eb.and([conditions(partnerId, rest), apartFrom(term)])
    : conditions(partnerId, filters);
  const counts = db
    .selectFrom(newestPayments(db, partnerId, filters, depth).as('newest'))
    .select(({ fn }) => [
      fn.countAll<number>().as('looked'),
      fn.countAll<number>().filterWhere(matching).as('matching'),
      orZero(isApart ? sumPartnerPayments(db, partnerId, rest, term.reach) : sql`0`).as('reached'),
      orZero(sumCreatedPayments(db, partnerId, filters)).as('created'),
    ]);
  const page = withNames(db, pageOfNewest(db, partnerId, filters, window, depth));
  return readWithPage<Pick<NewestMatches, 'looked' | 'created'>>(db, sql``, sql`(${counts})`, page);
}

/**
 * Payments newest first that match a text, or any of several merchants or addresses, collected from the
 * indexes.
 */
export function collectMatches(
  db: Connection,
  partnerId: string,
  filters: PartnerPaymentFilters,
  window: PageWindow,
): Promise<PartnerPayment[]> {
  const found = foundByText(db, partnerId, filters);
  const page = pageOfFound(partnerId, filters, window);
  const all = sql<Payment>`(with found as materialized (${found}) select * from ${page} as page)`;
  return withNames(db, all).execute();
}

/** Like `collectMatches` for a text, with the exact total, in one statement. */
export function countMatches(
  db: Connection,
  partnerId: string,
  filters: PartnerPaymentFilters,
  window: PageWindow,
): Promise<Matches> {
  const reached =
    filters.term === undefined ? sql`0` : countReached(db, partnerId, filters, filters.term);
  const counts = sql`(
    select count(*) filter (where not is_reached) as matching,
           ${orZero(reached)} as reached
    from found)`;
  const page = withNames(db, pageOfFound(partnerId, filters, window));
  const found = sql`with found as materialized (${foundByText(db, partnerId, filters)})`;
  return readWithPage(db, found, counts, page);
}

/** Whether the rollups have all that a search filters by, but for the text of its term. */
export function isRolledUp({
  createdFrom,
  createdTo,
  idPart,
  hashPart,
}: PartnerPaymentFilters): boolean {
  return [createdFrom, createdTo, idPart, hashPart].every(filter => filter === undefined);
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

/** Payments whose own text matches, and which neither merchant nor address would find. */
function apartFrom({ text, reach }: Term): Expression<SqlBool> {
  return eb.and([eb.not(isReached(reach)), textMatches(text)]);
}

/** The newest payments that the filter finds which leads to them. */
function newestPayments(
  db: Connection,
  partnerId: string,
  filters: PartnerPaymentFilters,
  depth: number,
) {
  return db
    .selectFrom('payments')
    .selectAll()
    .where(conditions(partnerId, leadOf(filters)))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(depth);
}

/** A page of those of the newest that match. They are read in order, until it is full. */
function pageOfNewest(
  db: Connection,
  partnerId: string,
  filters: PartnerPaymentFilters,
  { limit, offset }: PageWindow,
  depth: number,
) {
  const chosen = db
    .selectFrom(newestPayments(db, partnerId, filters, depth).as('newest'))
    .select('id')
    .where(conditions(partnerId, filters))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .offset(offset);
  return db
    .selectFrom(chosen.as('chosen'))
    .innerJoin('payments', 'payments.id', 'chosen.id')
    .selectAll('payments');
}

/** What the indexes of texts find, and whether merchant or address would find it as well. */
function foundByText(db: Connection, partnerId: string, { term, ...rest }: PartnerPaymentFilters) {
  const found = db.selectFrom('payments').where(conditions(partnerId, rest));
  return (term === undefined ? found : found.where(textMatches(term.text))).select([
    'id',
    'created_at',
    sql<boolean>`${term === undefined ? sql`false` : isReached(term.reach)}`.as('is_reached'),
  ]);
}

/**
 * A page of what texts find (`found`), or of what each merchant and address has: a union with one branch per way
 * to match, each one sorted and limited to what the page needs.
 */
function pageOfFound(
  partnerId: string,
  { term, ...rest }: PartnerPaymentFilters,
  { limit, offset }: PageWindow,
): AliasableExpression<Payment> {
  const enough = sql`order by ${NEWEST_FIRST} limit ${offset + limit}`;
  const each = (column: 'merchant_id' | 'address', values: readonly string[]) => {
    const type = sql.raw(column === 'address' ? 'text' : 'uuid');
    return sql`(select of_one.* from unnest(${[...values]}::${type}[]) as one (value)
      cross join lateral (
        select id, created_at from payments where ${conditions(partnerId, rest)}
        and ${sql.ref(column)} = one.value ${enough}
      ) as of_one)`;
  };
  const branches: RawBuilder<unknown>[] = [];
  if (hasText({ ...rest, term })) {
    branches.push(sql`(select id, created_at from found ${enough})`);
  } else if (rest.addresses !== undefined) {
    branches.push(each('address', rest.addresses));
  } else {
    branches.push(each('merchant_id', rest.merchantIds ?? []));
  }
  if (term !== undefined) {
    branches.push(each('merchant_id', term.reach.merchantIds));
    branches.push(each('address', term.reach.addresses));
  }
  return sql<Payment>`(
    select payments.* from (
      select distinct on (created_at, id) * from (${sql.join(branches, sql` union all `)}) as every
      order by ${NEWEST_FIRST} limit ${limit} offset ${offset}
    ) as chosen join payments on payments.id = chosen.id)`;
}

function orZero(count: Expression<unknown>): RawBuilder<number> {
  return sql<number>`coalesce((${count}), 0)`;
}

interface Counts {
  /** Matches that were counted one by one. */
  readonly matching: number;
  /** Those that merchants and addresses have, if not among the former. */
  readonly reached: number;
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
