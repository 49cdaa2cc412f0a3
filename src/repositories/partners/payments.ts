import {
  type AliasableExpression,
  type Expression,
  expressionBuilder,
  type RawBuilder,
  type SqlBool,
  sql,
} from 'kysely';
import type { MerchantEnvironment } from '../../database/account-tables.ts';
import type { Connection } from '../../database/connection.ts';
import type { NetworkFamily } from '../../database/network-tables.ts';
import type { Payment } from '../../database/payment-tables.ts';
import type { Tables } from '../../database/tables.ts';
import { countRows } from '../rows.ts';
import {
  conditions,
  isReached,
  type PartnerPaymentFilters,
  type Term,
  textMatches,
} from './payment-filters.ts';
import { sumPartnerPayments } from './totals.ts';

/** A payment with the names that a report shows. */
export type PartnerPayment = Payment & {
  merchant_name: string;
  merchant_environment: MerchantEnvironment;
  branch_name: string;
  network_family: NetworkFamily | null;
};

export interface PageWindow {
  readonly limit: number;
  readonly offset: number;
}

/** Undefined for another partner's payment, as for a missing one. */
export async function findPartnerPayment(
  db: Connection,
  partnerId: string,
  id: string,
): Promise<PartnerPayment | undefined> {
  const payments = db.selectFrom('payments').selectAll();
  const own = payments.where('id', '=', id).where('partner_id', '=', partnerId);
  return (await withNames(db, own))[0];
}

/**
 * Payments newest first, in the order of the index that fits the filters. The offset is skipped
 * within the index; only the page's own rows are fetched.
 */
export function listPartnerPayments(
  db: Connection,
  partnerId: string,
  filters: PartnerPaymentFilters,
  { limit, offset }: PageWindow,
): Promise<PartnerPayment[]> {
  const chosen = db
    .selectFrom('payments')
    .select('id')
    .where(conditions(partnerId, filters))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .offset(offset);
  const page = db
    .selectFrom(chosen.as('chosen'))
    .innerJoin('payments', 'payments.id', 'chosen.id')
    .selectAll('payments');
  return withNames(db, page);
}

/**
 * Those of the partner's newest payments that match, newest first.
 * @param scanned How many of the newest are looked at.
 */
export function listAmongNewest(
  db: Connection,
  partnerId: string,
  filters: PartnerPaymentFilters,
  { limit, offset }: PageWindow,
  scanned: number,
): Promise<PartnerPayment[]> {
  const newest = db
    .selectFrom('payments')
    .selectAll()
    .where('partner_id', '=', partnerId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(scanned);
  const page = db
    .selectFrom(newest.as('newest'))
    .selectAll()
    .where(conditions(partnerId, filters))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .offset(offset);
  return withNames(db, page);
}

/** Counts matching payments one by one; prefer the rollups for filters that they support. */
export async function countMatchingPayments(
  db: Connection,
  partnerId: string,
  filters: PartnerPaymentFilters,
): Promise<number> {
  return countRows(db.selectFrom('payments').where(conditions(partnerId, filters)));
}

/**
 * Counts payments that match the filters and a term: those within its reach in the rollups, the others, whose own
 * text matches, one by one.
 */
export async function countSearchedPayments(
  db: Connection,
  partnerId: string,
  { term, ...rest }: PartnerPaymentFilters & { readonly term: Term },
): Promise<number> {
  const reached = sumPartnerPayments(db, partnerId, rest, term.reach);
  const others = db
    .selectFrom('payments')
    .where(conditions(partnerId, rest))
    .where(textMatches(term.text))
    .where(({ not }) => not(isReached(term.reach)))
    .select(({ fn }) => fn.countAll<number>().as('payments'));
  const { payments } = await db
    .selectNoFrom(sql<number>`coalesce((${reached}), 0) + (${others})`.as('payments'))
    .executeTakeFirstOrThrow();
  return payments;
}

/** Written out for statements with a lateral join for each value, or a fence for the planner. */
const NEWEST_FIRST = sql`created_at desc, id desc`;

/** Creation time of the partner's latest payment of each merchant. */
export async function lastPaymentTimes(
  db: Connection,
  partnerId: string,
  merchantIds: readonly string[],
): Promise<Map<string, Date>> {
  const { rows } = await sql<{ merchant_id: string; created_at: Date }>`
    select m.merchant_id, latest.created_at
    from unnest(${[...merchantIds]}::uuid[]) as m (merchant_id)
    cross join lateral (
      select created_at from payments
      where partner_id = ${partnerId} and merchant_id = m.merchant_id
      order by ${NEWEST_FIRST} limit 1
    ) as latest`.execute(db);
  return new Map(rows.map(row => [row.merchant_id, row.created_at]));
}

/**
 * Payments newest first that match a text, or any of several merchants or addresses, collected from the
 * indexes: a union with one branch per way to match, each one sorted and limited to what the page needs.
 */
export function collectMatches(
  db: Connection,
  partnerId: string,
  filters: PartnerPaymentFilters,
  { limit, offset }: PageWindow,
): Promise<PartnerPayment[]> {
  const { term, ...rest } = filters;
  const enough = sql`order by ${NEWEST_FIRST} limit ${offset + limit}`;
  const each = (column: 'merchant_id' | 'address', values: readonly string[]) => {
    const type = sql.raw(column === 'address' ? 'text' : 'uuid');
    return sql`(select found.* from unnest(${[...values]}::${type}[]) as one (value)
      cross join lateral (
        select * from payments where ${conditions(partnerId, rest)}
        and ${sql.ref(column)} = one.value ${enough}
      ) as found)`;
  };
  // `offset 0` is an optimisation fence: it makes the planner use the text index instead of
  // scanning in order until it has enough matches.
  const matching = (condition: Expression<SqlBool>) => sql`(select * from (
    select * from payments where ${condition} offset 0) as matching ${enough})`;
  const branches: RawBuilder<unknown>[] = [];
  if (term !== undefined) {
    const { and } = expressionBuilder<Tables, 'payments'>();
    branches.push(matching(and([conditions(partnerId, rest), textMatches(term.text)])));
    branches.push(each('merchant_id', term.reach.merchantIds));
    branches.push(each('address', term.reach.addresses));
  } else if (rest.addresses !== undefined) {
    branches.push(each('address', rest.addresses));
  } else if (rest.merchantIds !== undefined && !rest.idPart && !rest.hashPart) {
    branches.push(each('merchant_id', rest.merchantIds));
  } else {
    branches.push(matching(conditions(partnerId, rest)));
  }
  const page = sql<Payment>`(
    select distinct on (created_at, id) * from (${sql.join(branches, sql` union all `)}) as every
    order by ${NEWEST_FIRST} limit ${limit} offset ${offset})`;
  return withNames(db, page);
}

function withNames(db: Connection, page: AliasableExpression<Payment>): Promise<PartnerPayment[]> {
  return db
    .selectFrom(page.as('page'))
    .innerJoin('merchants', 'merchants.id', 'page.merchant_id')
    .innerJoin('branches', 'branches.id', 'page.branch_id')
    .leftJoin('networks', 'networks.id', 'page.blockchain_id')
    .selectAll('page')
    .select(['merchants.name as merchant_name', 'branches.name as branch_name'])
    .select('merchants.environment as merchant_environment')
    .select('networks.family as network_family')
    .orderBy('page.created_at', 'desc')
    .orderBy('page.id', 'desc')
    .execute();
}
