import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { createMerchant } from '../../src/accounts/merchants.ts';
import type { Operator } from '../../src/accounts/operation.ts';
import { createPartner } from '../../src/accounts/partners.ts';
import type { Database } from '../../src/database/connection.ts';

/** A partner with a long history, and whole texts out of it to search for. */
export interface PartnerHistory {
  readonly partnerId: string;
  readonly merchantId: string;
  readonly sample: { id: string; hash: string; address: string; reference: string };
}

const MERCHANTS = 50;
/** Both sizes cover the same year, so that only the number of payments differs. */
const DAYS = 365;

/**
 * Fills an empty database with one partner's payments, set-wise and with the triggers off, builds the
 * indexes afterwards and the rollups from the payments.
 */
export async function fillHistory(db: Database, payments: number): Promise<PartnerHistory> {
  const operator: Operator = { db, clock: Date.now, actor: 'bench' };
  const partner = await createPartner(operator, { name: 'Bench Partner', selfService: true });
  for (let index = 0; index < MERCHANTS; index++) {
    await createMerchant(operator, {
      name: `Shop number ${index}`,
      email: `shop-${index}@example.com`,
      partnerId: partner.id,
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
    await insertPayments(connection, partner.id, payments);
    for (const { definition } of indexes) await sql.raw(definition).execute(connection);
    await sql`set session_replication_role = default`.execute(connection);
    await fillRollups(connection, partner.id);
  });
  await sql`vacuum (analyze) payments`.execute(db);
  await sql`vacuum (analyze) partner_totals, partner_created_days, partner_paid_days`.execute(db);
  return { partnerId: partner.id, ...(await takeSample(db)) };
}

async function insertPayments(db: Database, partnerId: string, payments: number): Promise<void> {
  await sql`
    with shops as (
      select array_agg(m.id order by m.created_at, m.id) as merchants,
             array_agg(b.id order by m.created_at, m.id) as branches
      from merchants m join branches b on b.merchant_id = m.id
    ), chains as (
      select array_agg(id order by position) as ids from networks where environment = 'production'
    ), drawn as (
      select n, date_trunc('milliseconds', now() - (n * interval '1 second' * ${(DAYS * 86_400) / payments}::float8)) as at,
             1 + (hashint8(n) & 2147483647) % ${MERCHANTS} as shop,
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
           merchants[shop], branches[shop], ${partnerId}::uuid, 'bench', 'crypto',
           50 + (hashint8(n * 3) & 2147483647) % 100000, 0, 0, 'merchant', 'direct', status,
           case status when 'pending' then 'pending' when 'cancelled' then 'cancelled'
                       when 'expired' then 'expired' else 'completed' end,
           '{}', ids[chain], '0x' || substr(md5(shop || ':' || chain) || md5(chain || '/' || shop), 1, 40),
           1000000, 6, case when status = 'successful' then '0x' || md5(n::text) || md5((-n)::text) end,
           case when status = 'successful' then at + interval '3 minutes' end,
           at + interval '30 minutes', at, 'ORD-2026-' || lpad(n::text, 10, '0')
    from decided, shops, chains order by n desc`.execute(db);
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
    from payments where status = 'successful' order by created_at desc
    offset (select reltuples::bigint / 3 from pg_class where relname = 'payments') limit 1`.execute(
    db,
  );
  const [row] = rows;
  if (row === undefined) throw new Error(`no payments, ${uuidv7()}`);
  const { merchantId, ...sample } = row;
  return { merchantId, sample };
}
