import { type Kysely, sql } from 'kysely';

/**
 * What the panel reads: figures of paid payments along an index of their own, what API keys were last used
 * for, and whose an unmatched deposit is. Deposits have no merchant; one is a merchant's when only that
 * merchant ever had its address.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create index payments_paid on payments (merchant_id, paid_at) include (amount)
    where status = 'successful'`.execute(db);

  await sql`
    create table account_addresses (
      blockchain_id text not null references networks (id),
      address text not null,
      merchant_id uuid not null references merchants (id),
      primary key (blockchain_id, address, merchant_id)
    )`.execute(db);
  await sql`create index account_addresses_merchant on account_addresses (merchant_id)`.execute(db);
  await sql`
    create function note_account_address() returns trigger language plpgsql as $$
    begin
      insert into account_addresses (blockchain_id, address, merchant_id)
      select new.blockchain_id, new.address, merchant_id from branches where id = new.branch_id
      on conflict do nothing;
      return null;
    end $$`.execute(db);
  await sql`
    create trigger deposit_addresses_account after insert or update on deposit_addresses
    for each row execute function note_account_address()`.execute(db);
  await sql`
    insert into account_addresses (blockchain_id, address, merchant_id)
    select blockchain_id, address, merchant_id
    from deposit_addresses join branches on branches.id = branch_id
    union
    select blockchain_id, address, merchant_id from payments
    where blockchain_id is not null and address is not null`.execute(db);

  // Beside the keys: it changes with their use, and they are read for every request.
  await sql`
    create table api_key_usage (
      key_id text primary key references api_keys (id),
      last_used_at timestamptz(3) not null,
      address text not null,
      last_error text,
      last_error_at timestamptz(3)
    ) with (fillfactor = 70)`.execute(db);
}
