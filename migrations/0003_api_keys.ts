import { type Kysely, sql } from 'kysely';

/**
 * API keys with their current and previous credential pair, and the nonces already used.
 *
 * A secret is AES-256-GCM ciphertext, a passphrase a keyed hash; beside each stands the version of
 * the master key that made it. Revoking a key sets its secrets to null.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table api_keys (
      id text primary key check (id ~ '^mpk_[0-9a-f]{24}$'),
      merchant_id uuid references merchants (id),
      partner_member_id uuid references partner_members (id),
      name text not null,
      scopes text[] not null,
      secret bytea,
      passphrase_hash bytea not null,
      master_key_version integer not null,
      previous_secret bytea,
      previous_passphrase_hash bytea,
      previous_master_key_version integer,
      previous_valid_until timestamptz(3),
      expires_at timestamptz(3),
      revoked_at timestamptz(3),
      rotated_at timestamptz(3),
      created_at timestamptz(3) not null,
      check (num_nonnulls(merchant_id, partner_member_id) = 1),
      check ((secret is null) = (revoked_at is not null)),
      check (num_nonnulls(previous_passphrase_hash, previous_master_key_version,
                          previous_valid_until) in (0, 3)),
      check (revoked_at is null or previous_secret is null)
    )`.execute(db);
  await sql`create index api_keys_merchant on api_keys (merchant_id)`.execute(db);
  await sql`create index api_keys_member on api_keys (partner_member_id)`.execute(db);
  await sql`
    create index api_keys_previous on api_keys (previous_valid_until)
    where previous_valid_until is not null`.execute(db);

  await sql`
    create table nonces (
      key_id text not null,
      nonce text not null,
      expires_at timestamptz not null,
      primary key (key_id, nonce)
    )`.execute(db);
  await sql`create index nonces_expiry on nonces (expires_at)`.execute(db);
}
