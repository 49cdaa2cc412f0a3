import { sql } from 'kysely';
import type { Database } from '#storage/database/connection.ts';
import { runInLanes } from './lanes.ts';

/**
 * Rollups of a history that was inserted without triggers, from one table of sums, so that not each of them reads
 * all payments.
 */

/** Sums all payments into the table. */
export async function addFigures(db: Database): Promise<void> {
  await sql`
    create unlogged table bench_figures as
    select partner_id, merchant_id, status, coalesce(blockchain_id, '') as blockchain_id,
           coalesce(address, '') as address, (created_at at time zone 'UTC')::date as created_day,
           (paid_at at time zone 'UTC')::date as paid_day, count(*) as payments, sum(amount) as cents,
           coalesce(sum(commission_amount), 0) as commission
    from payments group by 1, 2, 3, 4, 5, 6, 7`.execute(db);
}

/** Fills the rollups as the triggers and the worker would have, payment by payment, and drops the table. */
export async function fillRollups(db: Database): Promise<void> {
  await sql`analyze bench_figures`.execute(db);
  await runInLanes(
    db,
    ROLLUPS.map(
      rollup => connection =>
        sql`insert into ${sql.raw(rollup.into)} ${rollup.from}`.execute(connection),
    ),
  );
  await sql`vacuum (analyze) ${sql.raw(ROLLUPS.map(({ into }) => into).join(', '))}`.execute(db);
  await sql`drop table bench_figures`.execute(db);
}

const ROLLUPS = [
  {
    into: 'partner_totals',
    from: sql`
      select partner_id, merchant_id, status, blockchain_id, address, sum(payments), sum(cents)
      from bench_figures where partner_id is not null group by 1, 2, 3, 4, 5`,
  },
  {
    into: 'partner_created_days',
    from: sql`
      select partner_id, created_day, sum(payments)
      from bench_figures where partner_id is not null group by 1, 2`,
  },
  {
    into: 'partner_paid_days',
    from: sql`
      select partner_id, merchant_id, paid_day, sum(payments), sum(cents)
      from bench_figures where partner_id is not null and status = 'successful' group by 1, 2, 3`,
  },
  {
    into: 'partner_commissions',
    from: sql`
      select partner_id, merchant_id, sum(commission)
      from bench_figures where partner_id is not null and status = 'successful' group by 1, 2`,
  },
  {
    into: 'partner_commission_months',
    from: sql`
      select partner_id, merchant_id, date_trunc('month', paid_day), sum(commission)
      from bench_figures where partner_id is not null and status = 'successful' group by 1, 2, 3`,
  },
  {
    into: 'merchant_paid_days',
    from: sql`
      select merchant_id, paid_day, sum(payments), sum(cents)
      from bench_figures where status = 'successful' group by 1, 2`,
  },
];
