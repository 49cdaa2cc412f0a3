import { sql } from 'kysely';
import { createMerchant } from '../src/accounts/merchants.ts';
import { createPartner } from '../src/accounts/partners.ts';
import type { Operator } from '../src/audit/audited-change.ts';
import type { Database } from '../src/database/connection.ts';
import { verifyPartner } from '../src/partners/verify-rollups.ts';
import { VoidRun } from './measure.ts';
import { insertPayments } from './payment-history.ts';

/** A partner with its payments, and texts of one of them to search for. */
export interface PartnerHistory {
  readonly partnerId: string;
  /** How many payments the partner has. */
  readonly partnerPayments: number;
  /** One of its merchants. */
  readonly merchantId: string;
  readonly sample: { id: string; hash: string; address: string; reference: string };
}

/** Merchants, each with as many payments as any other, and how many of them the partner has. */
interface Shape {
  readonly merchants: number;
  readonly linked: number;
}

/** The partner has a seventh of the payments. */
const SEVENTH: Shape = { merchants: 35, linked: 5 };

/**
 * Fills an empty database with payments, in one statement and with the triggers off, and builds the
 * indexes and the rollups afterwards.
 * @throws VoidRun when the rollups do not match the payments.
 */
export async function fillHistory(
  db: Database,
  payments: number,
  { merchants, linked }: Shape = SEVENTH,
): Promise<PartnerHistory> {
  const operator: Operator = { db, clock: Date.now, actor: 'bench' };
  const partner = await createPartner(operator, { name: 'Bench Partner', selfService: true });
  for (let index = 0; index < merchants; index++) {
    await createMerchant(operator, {
      name: `Shop number ${index}`,
      email: `shop-${index}@example.com`,
      ...(index < linked ? { partnerId: partner.id } : {}),
    });
  }
  await db.connection().execute(async connection => {
    await sql`set session_replication_role = replica`.execute(connection);
    await sql`set maintenance_work_mem = '1GB'`.execute(connection);
    await sql`set max_parallel_maintenance_workers = 2`.execute(connection);
    const { rows: indexes } = await sql<{ name: string; definition: string }>`
      select indexname as name, indexdef as definition from pg_indexes
      where tablename = 'payments' and indexname <> 'payments_pkey'`.execute(connection);
    for (const { name } of indexes) await sql`drop index ${sql.id(name)}`.execute(connection);
    const link = { partnerId: partner.id, merchants: linked };
    await insertPayments(connection, payments, { merchants, link });
    for (const { definition } of indexes) await sql.raw(definition).execute(connection);
    await sql`set session_replication_role = default`.execute(connection);
    await fillRollups(connection, partner.id);
  });
  await sql`vacuum (analyze) payments`.execute(db);
  await sql`vacuum (analyze) partner_totals, partner_created_days, partner_paid_days, partner_commissions, partner_commission_months, merchant_paid_days`.execute(
    db,
  );
  const [wrong] = await verifyPartner(db, partner.id);
  if (wrong !== undefined) throw new VoidRun(JSON.stringify(wrong));
  return { partnerId: partner.id, ...(await takeSample(db)) };
}

/** Fills the rollups as the triggers and the worker would have, payment by payment. */
async function fillRollups(db: Database, partnerId: string): Promise<void> {
  await sql`
    insert into partner_totals
    select partner_id, merchant_id, status, coalesce(blockchain_id, ''), coalesce(address, ''),
           count(*), sum(amount)
    from payments where partner_id = ${partnerId} group by 1, 2, 3, 4, 5`.execute(db);
  await sql`
    insert into partner_created_days
    select partner_id, (created_at at time zone 'UTC')::date, count(*)
    from payments where partner_id = ${partnerId} group by 1, 2`.execute(db);
  await sql`
    insert into partner_paid_days
    select partner_id, merchant_id, (paid_at at time zone 'UTC')::date, count(*), sum(amount)
    from payments where partner_id = ${partnerId} and status = 'successful' group by 1, 2, 3`.execute(
    db,
  );
  await sql`
    insert into partner_commissions
    select partner_id, merchant_id, coalesce(sum(commission_amount), 0)
    from payments where partner_id = ${partnerId} and status = 'successful' group by 1, 2`.execute(
    db,
  );
  await sql`
    insert into partner_commission_months (partner_id, merchant_id, month, cents)
    select partner_id, merchant_id, date_trunc('month', paid_at at time zone 'UTC'),
           coalesce(sum(commission_amount), 0)
    from payments where partner_id = ${partnerId} and status = 'successful' group by 1, 2, 3`.execute(
    db,
  );
  await sql`
    insert into merchant_paid_days
    select merchant_id, (paid_at at time zone 'UTC')::date, count(*), sum(amount)
    from payments where status = 'successful' group by 1, 2`.execute(db);
}

async function takeSample(db: Database): Promise<Omit<PartnerHistory, 'partnerId'>> {
  const { rows } = await sql<
    PartnerHistory['sample'] & Pick<PartnerHistory, 'merchantId' | 'partnerPayments'>
  >`
    with total as (select count(*) as payments from payments where partner_id is not null)
    select id, transaction_hash as hash, address, customer_reference_id as reference,
           merchant_id as "merchantId", total.payments as "partnerPayments"
    from payments, total where status = 'successful' and partner_id is not null
    order by created_at desc offset (select payments / 3 from total) limit 1`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('the partner has no payments');
  const { merchantId, partnerPayments, ...sample } = row;
  return { merchantId, partnerPayments, sample };
}
