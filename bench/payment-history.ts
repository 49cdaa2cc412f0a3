import { type RawBuilder, sql } from 'kysely';
import type { Connection, Database } from '#storage/database/connection.ts';

const DAY_MS = 86_400_000;
/** Default number of days that a history covers. */
const YEAR_DAYS = 365;

/** Payments spread evenly over time and over the merchants of a database. They are numbered from 1, the newest. */
export interface PaymentHistory {
  readonly payments: number;
  readonly merchants: number;
  /** A partner, and how many merchants it has: the first ones. */
  readonly link?: { readonly partnerId: string; readonly merchants: number } | null;
  /** Every history of a bench covers the same number, so that only the number of payments differs. */
  readonly days?: number;
  /** When it ends. */
  readonly now: Date;
  /** Unpaid payments from before this time have expired. */
  readonly openSince?: Date;
}

/** A range of payments by their numbers, both inclusive. */
interface PaymentRange {
  readonly newest: number;
  readonly oldest: number;
}

/** Milliseconds between a payment and the next. */
const stepOf = ({ payments, days = YEAR_DAYS }: PaymentHistory) => (days * DAY_MS) / payments;

/**
 * Inserts the payments of a history that ends now, spread over a year, in one statement.
 */
export function insertPayments(
  db: Database,
  payments: number,
  shape: Pick<PaymentHistory, 'merchants' | 'link'>,
): Promise<void> {
  const history = { payments, ...shape, now: new Date() };
  return insertRange(db, history, { newest: 1, oldest: payments });
}

/** Inserts some payments of a history in one statement, the oldest first. */
export async function insertRange(
  db: Connection,
  history: PaymentHistory,
  { newest, oldest }: PaymentRange,
): Promise<void> {
  const { merchants, link = null, now, openSince = new Date(0) } = history;
  const step = sql`${stepOf(history)}::float8`;
  const linked = sql`case when shop <= ${link?.merchants ?? 0} then ${link?.partnerId ?? null}::uuid end`;
  await sql`
    with shops as materialized (
      select array_agg(m.id order by m.partner_id is null, m.created_at, m.id) as merchants,
             array_agg(b.id order by m.partner_id is null, m.created_at, m.id) as branches
      from merchants m join branches b on b.merchant_id = m.id
    ), chains as materialized (
      select array_agg(id order by position) as ids from networks where environment = 'production'
    ), drawn as (
      select n, md5(n::text) as hash, ${now.getTime()}::bigint - floor(n * ${step})::bigint as ms,
             ${drawn(sql`n`)} % ${merchants} + 1 as shop, ${drawn(sql`n * 7 + 1`)} % 13 + 1 as chain,
             ${drawn(sql`n * 13 + 5`)} % 100 as luck
      -- Computed once a row, and in this order without a sort.
      from generate_series(${oldest}::bigint, ${newest}::bigint, -1) as n offset 0
    ), decided as (
      select *, to_timestamp(ms / 1000.0::float8) as at,
             case when luck < 80 then 'successful' when luck < 90 then 'expired'
                  when luck < 95 then 'unsuccessful' when luck >= 98 then 'cancelled'
                  when ms < ${openSince.getTime()} then 'expired' else 'pending' end as status
      from drawn
    )
    insert into payments (id, merchant_id, branch_id, partner_id, created_by, flow, amount,
      commission_amount, commission_bps, commission_payer, settlement_model, status, session_status,
      offered_blockchain_ids, blockchain_id, address, token_amount, token_decimals,
      transaction_hash, paid_at, expires_at, created_at, customer_reference_id)
    select (lpad(to_hex(ms), 12, '0') || '7' || substr(hash, 1, 3) || '8' || substr(hash, 5, 15))::uuid,
           merchants[shop], branches[shop], ${linked}, 'bench', 'crypto',
           50 + ${drawn(sql`n * 3`)} % 100000, 0, 0, 'merchant', 'direct', status,
           case status when 'pending' then 'pending' when 'cancelled' then 'cancelled'
                       when 'expired' then 'expired' else 'completed' end,
           '{}', ids[chain], '0x' || substr(md5(shop || ':' || chain) || md5(chain || '/' || shop), 1, 40),
           1000000, 6, case when status = 'successful' then '0x' || hash || md5((-n)::text) end,
           case when status = 'successful' then at + interval '3 minutes' end,
           at + interval '30 minutes', at, 'ORD-2026-' || lpad(n::text, 10, '0')
    from decided, shops, chains`.execute(db);
}

/** A number that seems random and is the same in every run. */
const drawn = (seed: RawBuilder<unknown>) => sql`(hashint8(${seed}) & 2147483647)`;
