import { sql } from 'kysely';
import type { Database } from '../src/database/connection.ts';

/** Every history covers a year, so that only the number of payments differs. */
const DAYS = 365;

/** A partner and how many merchants it has. */
interface Link {
  readonly partnerId: string;
  readonly merchants: number;
}

/**
 * Inserts payments in one statement, spread evenly over the past year and over the merchants of the
 * database. Those of the partner's merchants, which come first, get its ID.
 */
export async function insertPayments(
  db: Database,
  payments: number,
  { merchants, link = null }: { readonly merchants: number; readonly link?: Link | null },
): Promise<void> {
  await sql`
    with shops as (
      select array_agg(m.id order by m.partner_id is null, m.created_at, m.id) as merchants,
             array_agg(b.id order by m.partner_id is null, m.created_at, m.id) as branches
      from merchants m join branches b on b.merchant_id = m.id
    ), chains as (
      select array_agg(id order by position) as ids from networks where environment = 'production'
    ), drawn as (
      select n, date_trunc('milliseconds', now() - (n * interval '1 second' * ${(DAYS * 86_400) / payments}::float8)) as at,
             1 + (hashint8(n) & 2147483647) % ${merchants} as shop,
             1 + (hashint8(n * 7 + 1) & 2147483647) % 13 as chain,
             (hashint8(n * 13 + 5) & 2147483647) % 100 as luck
      from generate_series(1::bigint, ${payments}::bigint) as n
    ), decided as (
      select *, case when luck < 80 then 'successful' when luck < 90 then 'expired'
                     when luck < 95 then 'unsuccessful' when luck < 98 then 'pending'
                     else 'cancelled' end as status
      from drawn
    )
    insert into payments (id, merchant_id, branch_id, partner_id, created_by, flow, amount,
      commission_amount, commission_bps, commission_payer, settlement_model, status, session_status,
      offered_blockchain_ids, blockchain_id, address, token_amount, token_decimals,
      transaction_hash, paid_at, expires_at, created_at, customer_reference_id)
    select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7'
            || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 5, 15))::uuid,
           merchants[shop], branches[shop],
           case when shop <= ${link?.merchants ?? 0} then ${link?.partnerId ?? null}::uuid end,
           'bench', 'crypto',
           50 + (hashint8(n * 3) & 2147483647) % 100000, 0, 0, 'merchant', 'direct', status,
           case status when 'pending' then 'pending' when 'cancelled' then 'cancelled'
                       when 'expired' then 'expired' else 'completed' end,
           '{}', ids[chain], '0x' || substr(md5(shop || ':' || chain) || md5(chain || '/' || shop), 1, 40),
           1000000, 6, case when status = 'successful' then '0x' || md5(n::text) || md5((-n)::text) end,
           case when status = 'successful' then at + interval '3 minutes' end,
           at + interval '30 minutes', at, 'ORD-2026-' || lpad(n::text, 10, '0')
    from decided, shops, chains order by n desc`.execute(db);
}
