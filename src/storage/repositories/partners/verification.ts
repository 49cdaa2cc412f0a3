import { sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';

/** A figure that differs between rollups and payments. */
export interface Discrepancy {
  rollup: 'totals' | 'created days' | 'paid days' | 'commissions' | 'commission months';
  /** The figure's keys, for example `merchant … successful btc`. */
  figure: string;
  paymentsCounted: number;
  paymentsRolledUp: number;
  centsCounted: number;
  centsRolledUp: number;
}

/** Maximum discrepancies reported: a single one is reason enough to investigate. */
const REPORTED_MAXIMUM = 100;

/**
 * Compares a partner's rollups, including unfolded deltas, with aggregates over its payments. Reads
 * every payment of the partner, without a statement timeout; run it in a repeatable-read
 * transaction.
 */
export async function findDiscrepancies(db: Connection, partnerId: string): Promise<Discrepancy[]> {
  await sql`set local statement_timeout = 0`.execute(db);
  const { rows } = await sql<Discrepancy>`
    with counted as (
      select 'totals' as rollup,
             concat_ws(' ', 'merchant', merchant_id, status, blockchain_id, address) as figure,
             count(*) as payments, sum(amount) as cents
      from payments where partner_id = ${partnerId}
      group by merchant_id, status, blockchain_id, address
      union all
      select 'created days', ((created_at at time zone 'UTC')::date)::text, count(*), 0
      from payments where partner_id = ${partnerId} group by 2
      union all
      select 'paid days', concat_ws(' ', 'merchant', merchant_id, (paid_at at time zone 'UTC')::date),
             count(*), sum(amount)
      from payments where partner_id = ${partnerId} and status = 'successful' group by 2
      union all
      select 'commissions', concat_ws(' ', 'merchant', merchant_id), 0, sum(commission_amount)
      from payments where partner_id = ${partnerId} and status = 'successful' group by 2
      union all
      select 'commission months',
             concat_ws(' ', 'merchant', merchant_id,
                       date_trunc('month', paid_at at time zone 'UTC')::date),
             0, sum(commission_amount)
      from payments where partner_id = ${partnerId} and status = 'successful' group by 2
    ), rolled as (
      select rollup, figure, sum(payments) as payments, sum(cents) as cents from (
        select 'totals' as rollup,
               concat_ws(' ', 'merchant', merchant_id, status, nullif(blockchain_id, ''),
                         nullif(address, '')) as figure, payments, cents
        from partner_totals where partner_id = ${partnerId}
        union all
        select 'totals', concat_ws(' ', 'merchant', merchant_id, status, nullif(blockchain_id, ''),
                                   nullif(address, '')), payments, cents
        from partner_deltas where partner_id = ${partnerId}
        union all
        select 'created days', day::text, payments, 0 from partner_created_days
        where partner_id = ${partnerId}
        union all
        select 'created days', created_day::text, payments, 0 from partner_deltas
        where partner_id = ${partnerId}
        union all
        select 'paid days', concat_ws(' ', 'merchant', merchant_id, day), payments, cents
        from partner_paid_days where partner_id = ${partnerId}
        union all
        select 'paid days', concat_ws(' ', 'merchant', merchant_id, paid_day), payments, cents
        from partner_deltas where partner_id = ${partnerId} and status = 'successful'
        union all
        select 'commissions', concat_ws(' ', 'merchant', merchant_id), 0, cents
        from partner_commissions where partner_id = ${partnerId}
        union all
        select 'commissions', concat_ws(' ', 'merchant', merchant_id), 0, cents
        from partner_commission_deltas where partner_id = ${partnerId}
        union all
        select 'commission months', concat_ws(' ', 'merchant', merchant_id, month), 0, cents
        from partner_commission_months where partner_id = ${partnerId}
        union all
        select 'commission months', concat_ws(' ', 'merchant', merchant_id, month), 0, cents
        from partner_commission_month_deltas where partner_id = ${partnerId}
      ) as every group by 1, 2
    )
    select rollup, figure,
           coalesce(counted.payments, 0)::bigint as "paymentsCounted",
           coalesce(rolled.payments, 0)::bigint as "paymentsRolledUp",
           coalesce(counted.cents, 0)::bigint as "centsCounted",
           coalesce(rolled.cents, 0)::bigint as "centsRolledUp"
    from counted full join rolled using (rollup, figure)
    where (coalesce(counted.payments, 0), coalesce(counted.cents, 0))
          <> (coalesce(rolled.payments, 0), coalesce(rolled.cents, 0))
    order by rollup, figure limit ${REPORTED_MAXIMUM}`.execute(db);
  return rows;
}
