import { type Kysely, sql } from 'kysely';

/**
 * The master keys in use. A version is a check value of its key, 31 bits of a SHA-256 over it: a process
 * compares them at start with the keys it was given. The first ones are those of the secrets that can
 * still be used; what was issued under any other has been given up.
 *
 * Everything sealed under a former key can be sealed anew, but a passphrase can be hashed anew only when
 * it is used, so its hash has a version of its own; null is that of the secret beside it.
 *
 * A stored response may be sealed, with its status. Then `status` is null, which makes the previous
 * release, which cannot open it, fail with E5001 instead of sending sealed bytes. What that release
 * stores has a status and no version, and is replayed as it is.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table master_keys (
      version integer primary key,
      created_at timestamptz(3) not null
    )`.execute(db);
  await sql`
    insert into master_keys (version, created_at)
    select version, now() from (
      select master_key_version from api_keys
      where revoked_at is null and (expires_at is null or expires_at > now())
      union
      select previous_master_key_version from api_keys where previous_valid_until > now()
      union
      select master_key_version from webhook_endpoints where disabled_at is null
      union
      select previous_master_key_version from webhook_endpoints where previous_valid_until > now()
      union
      select master_key_version from merchant_users where api_key_hash is not null
    ) as used (version)`.execute(db);
  await sql`
    alter table api_keys
      add column passphrase_key_version integer,
      add column previous_passphrase_key_version integer`.execute(db);
  await sql`
    alter table idempotency_keys
      add column master_key_version integer,
      alter column status drop not null,
      add constraint idempotency_keys_sealed check (num_nonnulls(status, master_key_version) = 1)
        not valid`.execute(db);
}
