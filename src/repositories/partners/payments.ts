import { type RawBuilder, sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { NetworkFamily } from '../../database/network-tables.ts';
import type { Payment } from '../../database/payment-tables.ts';
import {
  conditions,
  isReached,
  type PartnerPaymentFilters,
  type Term,
  textMatches,
} from './payment-filters.ts';

/** A payment with the names that a report shows. */
export type PartnerPayment = Payment & {
  merchant_name: string;
  branch_name: string;
  network_family: NetworkFamily | null;
};

export interface PageWindow {
  readonly limit: number;
  readonly offset: number;
}

/** Number of a partner's newest payments to scan before searching the indexes. */
const SCANNED_MAXIMUM = 5_000;

const NEWEST_FIRST = sql`created_at desc, id desc`;

/** Undefined for another partner's payment, as for a missing one. */
export async function findPartnerPayment(
  db: Connection,
  partnerId: string,
  id: string,
): Promise<PartnerPayment | undefined> {
  const page = sql`select * from payments where id = ${id} and partner_id = ${partnerId}`;
  return (await withNames(db, page))[0];
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
  return withNames(
    db,
    sql`select payments.* from (
          select id from payments where ${conditions(partnerId, filters)}
          order by ${NEWEST_FIRST} limit ${limit} offset ${offset}
        ) as chosen join payments using (id)`,
  );
}

/**
 * Payments newest first that match a text, or any of several merchants or addresses.
 *
 * No single plan suits all searches. Frequent matches fill the page from the newest payments. If
 * they do not, matches are rare enough to collect all of them from the indexes and sort them.
 */
export async function searchPartnerPayments(
  db: Connection,
  partnerId: string,
  filters: PartnerPaymentFilters,
  window: PageWindow,
): Promise<PartnerPayment[]> {
  if (window.offset + window.limit <= SCANNED_MAXIMUM) {
    const newest = await withNames(
      db,
      sql`select * from (
            select * from payments where partner_id = ${partnerId}
            order by ${NEWEST_FIRST} limit ${SCANNED_MAXIMUM}
          ) as newest where ${conditions(partnerId, filters)}
          order by ${NEWEST_FIRST} limit ${window.limit} offset ${window.offset}`,
    );
    if (newest.length === window.limit) return newest;
  }
  return withNames(db, collectMatches(partnerId, filters, window));
}

/** Counts matching payments one by one; prefer the rollups for filters that they support. */
export async function countMatchingPayments(
  db: Connection,
  partnerId: string,
  filters: PartnerPaymentFilters,
): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from payments where ${conditions(partnerId, filters)}`.execute(db);
  return rows[0]?.total ?? 0;
}

/** Counts payments that match the term by their own text but are not within its reach. */
export async function countTextMatches(
  db: Connection,
  partnerId: string,
  filters: PartnerPaymentFilters & { readonly term: Term },
): Promise<number> {
  const { term, ...rest } = filters;
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from payments
    where ${conditions(partnerId, rest)} and (${textMatches(term.text)})
      and not (${isReached(term.reach)})`.execute(db);
  return rows[0]?.total ?? 0;
}

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

/** A union with one branch per way to match, each one sorted and limited to what the page needs. */
function collectMatches(
  partnerId: string,
  filters: PartnerPaymentFilters,
  { limit, offset }: PageWindow,
): RawBuilder<unknown> {
  const { term, ...rest } = filters;
  const enough = sql`order by ${NEWEST_FIRST} limit ${offset + limit}`;
  const each = (
    column: 'merchant_id' | 'address',
    values: readonly string[],
    others: PartnerPaymentFilters,
  ) => {
    const type = sql.raw(column === 'address' ? 'text' : 'uuid');
    return sql`(select found.* from unnest(${[...values]}::${type}[]) as one (value)
      cross join lateral (
        select * from payments where ${conditions(partnerId, others)}
        and ${sql.ref(column)} = one.value ${enough}
      ) as found)`;
  };
  const branches: RawBuilder<unknown>[] = [];
  if (term !== undefined) {
    const own = sql`${conditions(partnerId, rest)} and (${textMatches(term.text)})`;
    // `offset 0` is an optimisation fence: it makes the planner use the text index instead of
    // scanning in order until it has enough matches.
    branches.push(sql`(select * from (
      select * from payments where ${own} offset 0) as matching ${enough})`);
    branches.push(each('merchant_id', term.reach.merchantIds, rest));
    branches.push(each('address', term.reach.addresses, rest));
  } else if (rest.addresses !== undefined) {
    branches.push(each('address', rest.addresses, rest));
  } else if (rest.merchantIds !== undefined && !rest.idPart && !rest.hashPart) {
    branches.push(each('merchant_id', rest.merchantIds, rest));
  } else {
    branches.push(sql`(select * from (
      select * from payments where ${conditions(partnerId, rest)} offset 0) as matching ${enough})`);
  }
  return sql`
    select distinct on (created_at, id) * from (${sql.join(branches, sql` union all `)}) as every
    order by ${NEWEST_FIRST} limit ${limit} offset ${offset}`;
}

async function withNames(db: Connection, page: RawBuilder<unknown>): Promise<PartnerPayment[]> {
  const { rows } = await sql<PartnerPayment>`
    select page.*, merchants.name as merchant_name, branches.name as branch_name,
           networks.family as network_family
    from (${page}) as page
    join merchants on merchants.id = page.merchant_id
    join branches on branches.id = page.branch_id
    left join networks on networks.id = page.blockchain_id
    order by page.created_at desc, page.id desc`.execute(db);
  return rows;
}
