import { type Kysely, sql } from 'kysely';

/** Responses kept for replay; one row per account, route and Idempotency-Key. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table idempotency_keys (
      account_id uuid not null,
      route text not null,
      key text not null,
      body_sha256 bytea not null,
      status smallint not null,
      body bytea not null,
      created_at timestamptz(3) not null,
      expires_at timestamptz(3) not null,
      primary key (account_id, route, key)
    )`.execute(db);
  await sql`create index idempotency_keys_expiry on idempotency_keys (expires_at)`.execute(db);
}
