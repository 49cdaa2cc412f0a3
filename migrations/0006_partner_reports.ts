import { type Kysely, sql } from 'kysely';

/**
 * What partner reports are read from, at a cost that does not grow with a partner's history.
 *
 * Every change of a partner's payment adds a row to partner_deltas in its own transaction: plain
 * inserts, so concurrent creations of one partner never wait for each other. The worker folds them
 * into the three rollups; a reader adds both in one statement, which makes every figure exact at any
 * moment. An empty text stands for a network or an address that is not chosen yet.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create extension if not exists pg_trgm`.execute(db);

  await sql`
    create table partner_deltas (
      id bigint generated always as identity primary key,
      partner_id uuid not null,
      merchant_id uuid not null,
      status text not null,
      blockchain_id text not null,
      address text not null,
      created_day date not null,
      paid_day date,
      payments integer not null,
      cents bigint not null
    ) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)`.execute(db);
  await sql`create index partner_deltas_partner on partner_deltas (partner_id)`.execute(db);

  await sql`
    create table partner_totals (
      partner_id uuid not null,
      merchant_id uuid not null,
      status text not null,
      blockchain_id text not null,
      address text not null,
      payments bigint not null,
      cents bigint not null,
      primary key (partner_id, merchant_id, status, blockchain_id, address)
    ) with (fillfactor = 70)`.execute(db);
  await sql`
    create table partner_created_days (
      partner_id uuid not null,
      day date not null,
      payments bigint not null,
      primary key (partner_id, day)
    ) with (fillfactor = 70)`.execute(db);
  await sql`
    create table partner_paid_days (
      partner_id uuid not null,
      merchant_id uuid not null,
      day date not null,
      payments bigint not null,
      cents bigint not null,
      primary key (partner_id, merchant_id, day)
    ) with (fillfactor = 70)`.execute(db);
  await sql`create index partner_paid_days_day on partner_paid_days (partner_id, day)`.execute(db);

  await sql`
    create function record_partner_delta() returns trigger language plpgsql as $$
    begin
      if tg_op = 'UPDATE' then
        insert into partner_deltas (partner_id, merchant_id, status, blockchain_id, address,
                                    created_day, paid_day, payments, cents)
        values (old.partner_id, old.merchant_id, old.status, coalesce(old.blockchain_id, ''),
                coalesce(old.address, ''), (old.created_at at time zone 'UTC')::date,
                (old.paid_at at time zone 'UTC')::date, -1, -old.amount);
      end if;
      insert into partner_deltas (partner_id, merchant_id, status, blockchain_id, address,
                                  created_day, paid_day, payments, cents)
      values (new.partner_id, new.merchant_id, new.status, coalesce(new.blockchain_id, ''),
              coalesce(new.address, ''), (new.created_at at time zone 'UTC')::date,
              (new.paid_at at time zone 'UTC')::date, 1, new.amount);
      return null;
    end $$`.execute(db);
  await sql`
    create trigger payments_partner_delta_insert after insert on payments
    for each row when (new.partner_id is not null) execute function record_partner_delta()`.execute(
    db,
  );
  await sql`
    create trigger payments_partner_delta_update
    after update of status, blockchain_id, address, paid_at on payments
    for each row when (
      new.partner_id is not null
      and (old.status, old.blockchain_id, old.address, old.paid_at)
          is distinct from (new.status, new.blockchain_id, new.address, new.paid_at)
    ) execute function record_partner_delta()`.execute(db);

  for (const [name, columns] of [
    ['payments_partner', ''],
    ['payments_partner_status', 'status, '],
    ['payments_partner_merchant', 'merchant_id, '],
    ['payments_partner_blockchain', 'blockchain_id, '],
    ['payments_partner_address', 'address, '],
  ] as const) {
    await sql`
      create index ${sql.id(name)} on payments
      (partner_id, ${sql.raw(columns)} created_at desc, id desc) where partner_id is not null`.execute(
      db,
    );
  }
  await sql`
    create index payments_partner_hash on payments (partner_id, lower(transaction_hash))
    where partner_id is not null and transaction_hash is not null`.execute(db);
  await sql`
    create index payments_partner_reference on payments
    (partner_id, lower(customer_reference_id) text_pattern_ops)
    where partner_id is not null and customer_reference_id is not null`.execute(db);
  await sql`
    create index payments_partner_text on payments using gin (
      (id::text) gin_trgm_ops, transaction_hash gin_trgm_ops, customer_reference_id gin_trgm_ops
    ) where partner_id is not null`.execute(db);
}
