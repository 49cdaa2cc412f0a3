import { type Kysely, sql } from 'kysely';

/**
 * Users of merchants, whose credentials the older contract takes, and what that contract is still
 * used for.
 *
 * A client ID and its API key come together; of the key only a keyed hash is stored, beside it the
 * version of the master key that made it. The time to pay that the older contract promises at
 * creation stays as it is, whichever network the customer chooses.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table merchant_users (
      id uuid primary key,
      merchant_id uuid not null references merchants (id),
      name text not null,
      email text not null,
      role text not null check (role in ('admin', 'member')),
      status text not null default 'active' check (status in ('active', 'inactive')),
      client_id text unique check (client_id ~ '^mpc_[0-9a-f]{24}$'),
      api_key_hash bytea,
      master_key_version integer,
      created_at timestamptz(3) not null,
      check (num_nonnulls(client_id, api_key_hash, master_key_version) in (0, 3))
    )`.execute(db);
  await sql`create index merchant_users_merchant on merchant_users (merchant_id, created_at)`.execute(
    db,
  );

  // Room in each page lets a counter be updated in place.
  await sql`
    create table legacy_usage (
      merchant_id uuid not null references merchants (id),
      day date not null,
      route text not null,
      requests bigint not null check (requests > 0),
      primary key (merchant_id, day, route)
    ) with (fillfactor = 70)`.execute(db);

  await sql`alter table payments add column expiry_fixed boolean not null default false`.execute(
    db,
  );
  await sql`
    create function guard_fixed_expiry() returns trigger language plpgsql as $$
    begin
      raise exception 'the time to pay of payment % is fixed', old.id
        using errcode = 'integrity_constraint_violation';
    end $$`.execute(db);
  await sql`
    create trigger payments_fixed_expiry before update of expires_at, expiry_fixed on payments
    for each row when (
      old.expiry_fixed is distinct from new.expiry_fixed
      or (old.expiry_fixed and old.expires_at is distinct from new.expires_at)
    ) execute function guard_fixed_expiry()`.execute(db);
}
