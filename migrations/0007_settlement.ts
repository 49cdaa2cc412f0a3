import { type Kysely, sql } from 'kysely';

/**
 * What payments on chain are recognised by: the token amounts reserved for them, and the transfers
 * observed. One static address serves many payments, so the amount tells them apart.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table reservations (
      id bigint generated always as identity primary key,
      payment_id uuid not null references payments (id),
      blockchain_id text not null references networks (id),
      address text not null,
      token_amount numeric(78, 0) not null check (token_amount > 0),
      reserved_at timestamptz(3) not null,
      released_at timestamptz(3)
    )`.execute(db);
  await sql`
    create unique index reservations_live on reservations (blockchain_id, address, token_amount)
    where released_at is null`.execute(db);
  await sql`
    create unique index reservations_payment on reservations (payment_id)
    where released_at is null`.execute(db);
  await sql`
    create index reservations_latest
    on reservations (blockchain_id, address, token_amount, id desc)`.execute(db);

  await sql`
    create table deposits (
      id uuid primary key,
      blockchain_id text not null references networks (id),
      transaction_hash text not null,
      position integer not null,
      address text not null,
      token_amount numeric(78, 0) not null check (token_amount > 0),
      block_height bigint,
      state text not null check (state in ('seen', 'final', 'reversed', 'failed')),
      outcome text not null check (outcome in
        ('exact', 'over', 'under', 'late', 'duplicate', 'ambiguous', 'unknown', 'assigned')),
      payment_id uuid references payments (id),
      dismissed_at timestamptz(3),
      observed_at timestamptz(3) not null,
      updated_at timestamptz(3) not null,
      unique (blockchain_id, transaction_hash, position)
    )`.execute(db);
  await sql`create index deposits_payment on deposits (payment_id)`.execute(db);
  await sql`
    create index deposits_unmatched on deposits (observed_at, id)
    where payment_id is null and dismissed_at is null and state in ('seen', 'final')`.execute(db);
  await sql`create index deposits_address on deposits (blockchain_id, address, token_amount)`.execute(
    db,
  );
  await sql`create index deposits_hash on deposits (lower(transaction_hash))`.execute(db);
}
