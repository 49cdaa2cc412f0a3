import { sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';

/**
 * A partner's successful payments by the UTC month in which they were paid, from its rollups and the deltas that are
 * not folded yet. Like all figures they leave test merchants out.
 */

/** A UTC month by its days, YYYY-MM-DD. */
export interface MonthDays {
  readonly first: string;
  /** The first day of the next month. */
  readonly end: string;
}

export interface MonthSum {
  readonly payments: number;
  readonly volumeCents: number;
  readonly commissionCents: number;
}

export interface MerchantMonth extends MonthSum {
  readonly merchantId: string;
  readonly merchantName: string;
}

/** The sums of each merchant that was paid in a month, by merchant ID, which is the order of creation. */
export async function listMerchantMonths(
  db: Connection,
  partnerId: string,
  month: MonthDays,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<MerchantMonth[]> {
  const { rows } = await sql<MerchantMonth>`
    select merchants.id as "merchantId", merchants.name as "merchantName", ${SUMS}
    from (${effects(partnerId, month)}) as t join merchants on merchants.id = t.merchant_id
    where merchants.environment = 'live'
      ${after === undefined ? sql`` : sql`and t.merchant_id > ${after}`}
    group by merchants.id having sum(payments) <> 0
    order by merchants.id limit ${limit}`.execute(db);
  return rows;
}

/** The sums of all merchants in a month. */
export async function sumMonth(
  db: Connection,
  partnerId: string,
  month: MonthDays,
): Promise<MonthSum> {
  const { rows } = await sql<MonthSum>`
    select ${SUMS}
    from (${effects(partnerId, month)}) as t join merchants on merchants.id = t.merchant_id
    where merchants.environment = 'live'`.execute(db);
  return rows[0] ?? { payments: 0, volumeCents: 0, commissionCents: 0 };
}

/** The UTC day of the first payment that a live merchant was paid, YYYY-MM-DD; null for none. */
export async function findFirstPaidDay(db: Connection, partnerId: string): Promise<string | null> {
  const { rows } = await sql<{ day: string | null }>`
    select least(
      (select day from partner_paid_days join merchants on merchants.id = merchant_id
       where partner_paid_days.partner_id = ${partnerId} and environment = 'live' order by day limit 1),
      (select min(paid_day) from partner_deltas join merchants on merchants.id = merchant_id
       where partner_deltas.partner_id = ${partnerId} and partner_deltas.status = 'successful'
         and environment = 'live')) as day`.execute(db);
  return rows[0]?.day ?? null;
}

const SUMS = sql`
  coalesce(sum(payments), 0)::bigint as payments,
  coalesce(sum(cents), 0)::bigint as "volumeCents",
  coalesce(sum(commission), 0)::bigint as "commissionCents"`;

function effects(partnerId: string, { first, end }: MonthDays) {
  return sql`
    select merchant_id, payments, cents, 0 as commission from partner_paid_days
    where partner_id = ${partnerId} and day >= ${first} and day < ${end}
    union all
    select merchant_id, payments, cents, 0 from partner_deltas
    where partner_id = ${partnerId} and status = 'successful'
      and paid_day >= ${first} and paid_day < ${end}
    union all
    select merchant_id, 0, 0, cents from partner_commission_months
    where partner_id = ${partnerId} and month = ${first}
    union all
    select merchant_id, 0, 0, cents from partner_commission_month_deltas
    where partner_id = ${partnerId} and month = ${first}`;
}
