import { sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';

/**
 * Folds at most `limit` of the oldest deltas, and as many of commissions, their months and the days on
 * which merchants were paid, into the rollups, in one statement, so that a reader counts each delta
 * exactly once.
 * @returns The number of deltas of the kind that had most; 0 while another worker is folding.
 */
export async function foldPartnerDeltas(db: Connection, limit: number): Promise<number> {
  const { rows } = await sql<{ folded: number }>`
    with lock as materialized (
      select pg_try_advisory_xact_lock(hashtextextended('fold partner deltas', 0)) as acquired
    ), taken as (
      delete from partner_deltas where id in (
        select id from partner_deltas where (select acquired from lock) order by id limit ${limit}
      ) returning *
    ), taken_commissions as (
      delete from partner_commission_deltas where id in (
        select id from partner_commission_deltas where (select acquired from lock)
        order by id limit ${limit}
      ) returning *
    ), taken_months as (
      delete from partner_commission_month_deltas where id in (
        select id from partner_commission_month_deltas where (select acquired from lock)
        order by id limit ${limit}
      ) returning *
    ), taken_paid as (
      delete from merchant_paid_deltas where id in (
        select id from merchant_paid_deltas where (select acquired from lock)
        order by id limit ${limit}
      ) returning *
    ), totals as (
      insert into partner_totals as t
        (partner_id, merchant_id, status, blockchain_id, address, payments, cents)
      select partner_id, merchant_id, status, blockchain_id, address, sum(payments), sum(cents)
      from taken group by 1, 2, 3, 4, 5
      on conflict (partner_id, merchant_id, status, blockchain_id, address) do update
      set payments = t.payments + excluded.payments, cents = t.cents + excluded.cents
    ), created as (
      insert into partner_created_days as d (partner_id, day, payments)
      select partner_id, created_day, sum(payments) from taken group by 1, 2
      having sum(payments) <> 0
      on conflict (partner_id, day) do update set payments = d.payments + excluded.payments
    ), paid as (
      insert into partner_paid_days as d (partner_id, merchant_id, day, payments, cents)
      select partner_id, merchant_id, paid_day, sum(payments), sum(cents)
      from taken where status = 'successful' group by 1, 2, 3
      on conflict (partner_id, merchant_id, day) do update
      set payments = d.payments + excluded.payments, cents = d.cents + excluded.cents
    ), commissions as (
      insert into partner_commissions as c (partner_id, merchant_id, cents)
      select partner_id, merchant_id, sum(cents) from taken_commissions group by 1, 2
      on conflict (partner_id, merchant_id) do update set cents = c.cents + excluded.cents
    ), months as (
      insert into partner_commission_months as m (partner_id, merchant_id, month, cents)
      select partner_id, merchant_id, month, sum(cents) from taken_months group by 1, 2, 3
      on conflict (partner_id, month, merchant_id) do update set cents = m.cents + excluded.cents
    ), merchants_paid as (
      insert into merchant_paid_days as p (merchant_id, day, payments, cents)
      select merchant_id, day, sum(payments), sum(cents) from taken_paid group by 1, 2
      on conflict (merchant_id, day) do update
      set payments = p.payments + excluded.payments, cents = p.cents + excluded.cents
    )
    select greatest((select count(*) from taken), (select count(*) from taken_commissions),
                    (select count(*) from taken_months), (select count(*) from taken_paid))::int
           as folded`.execute(db);
  return rows[0]?.folded ?? 0;
}
