import { sql } from 'kysely';
import type { Operator } from '../../src/accounts/audited-change.ts';
import { createMerchant } from '../../src/accounts/merchants.ts';
import { createPartner } from '../../src/accounts/partners.ts';
import type { Database } from '../../src/database/connection.ts';
import { insertPayments } from './payment-history.ts';

/** A partner with a long history, and whole texts out of it to search for. */
export interface PartnerHistory {
  readonly partnerId: string;
  readonly merchantId: string;
  readonly sample: { id: string; hash: string; address: string; reference: string };
}

const MERCHANTS = 50;

/** How many merchants a history has, and how many of them are the partner's. */
interface Shape {
  readonly linked: number;
  readonly unlinked: number;
}

/**
 * Fills an empty database with payments, all of one partner unless said otherwise, set-wise and with
 * the triggers off, builds the indexes afterwards and the rollups from the payments.
 */
export async function fillHistory(
  db: Database,
  payments: number,
  { linked, unlinked }: Shape = { linked: MERCHANTS, unlinked: 0 },
): Promise<PartnerHistory> {
  const operator: Operator = { db, clock: Date.now, actor: 'bench' };
  const partner = await createPartner(operator, { name: 'Bench Partner', selfService: true });
  const merchants = linked + unlinked;
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
  await sql`vacuum (analyze) partner_totals, partner_created_days, partner_paid_days`.execute(db);
  return { partnerId: partner.id, ...(await takeSample(db)) };
}

/** What the payments' triggers and the worker would have built, payment by payment. */
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
}

async function takeSample(db: Database): Promise<Omit<PartnerHistory, 'partnerId'>> {
  const { rows } = await sql<{
    id: string;
    hash: string;
    address: string;
    reference: string;
    merchantId: string;
  }>`
    select id, transaction_hash as hash, address, customer_reference_id as reference,
           merchant_id as "merchantId"
    from payments where status = 'successful' and partner_id is not null order by created_at desc
    offset (select count(*) / 3 from payments where partner_id is not null) limit 1`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('there are no payments of the partner');
  const { merchantId, ...sample } = row;
  return { merchantId, sample };
}
