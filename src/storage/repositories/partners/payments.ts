import { type AliasableExpression, sql } from 'kysely';
import type { MerchantEnvironment } from '../../database/account-tables.ts';
import type { Connection } from '../../database/connection.ts';
import type { NetworkFamily } from '../../database/network-tables.ts';
import type { Payment } from '../../database/payment-tables.ts';
import { conditions, type PartnerPaymentFilters } from './payment-filters.ts';

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
  return withNames(db, own).executeTakeFirst();
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
  return withNames(db, page).execute();
}

/** Written out for statements with a lateral join for each value. */
export const NEWEST_FIRST = sql`created_at desc, id desc`;

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

/** The payments of a page with the names that a report shows, newest first. */
export function withNames(db: Connection, page: AliasableExpression<Payment>) {
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
    .orderBy('page.id', 'desc');
}
