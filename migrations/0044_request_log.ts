import { type Kysely, sql } from 'kysely';

/**
 * What developers look for: failed requests of their API keys, and creations.
 *
 * A row of a verified request is never changed. Before a signature holds, a row stands for all requests of its
 * key, error and minute, which `at` begins. The ID is that of the request, a UUIDv7, so that rows are
 * listed and removed in its order; the primary key has the time as well, so that the table can be partitioned
 * by it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table request_log (
      id uuid not null,
      at timestamptz(3) not null,
      account_id uuid not null,
      requests integer not null,
      milliseconds integer not null,
      status smallint not null,
      verified boolean not null,
      replayed boolean not null,
      payment_id uuid,
      key_id text not null,
      error_code text,
      param text,
      method text not null,
      target text not null check (octet_length(target) <= 1024),
      address text not null,
      explanation jsonb,
      primary key (id, at)
    ) with (
      -- Old rows are looked for at the old end of the primary key, where the dead entries are.
      autovacuum_vacuum_scale_factor = 0.02,
      autovacuum_vacuum_insert_scale_factor = 0.05,
      autovacuum_analyze_scale_factor = 0.05
    )`.execute(db);
  await sql`create index request_log_key on request_log (account_id, key_id, id)`.execute(db);
  await sql`
    create index request_log_errors on request_log (account_id, key_id, error_code, id)
    include (requests) where error_code is not null`.execute(db);
  await sql`
    create unique index request_log_minutes on request_log (key_id, error_code, at)
    where not verified`.execute(db);
}
