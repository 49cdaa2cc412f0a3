import { type Kysely, sql } from 'kysely';

/**
 * Where merchants are told of events, every delivery of an event to an endpoint and every attempt at
 * it. A delivery is written in the transaction of its event; the job queue only says when it is tried.
 *
 * A secret is AES-256-GCM ciphertext, beside it the version of the master key that made it. The rows
 * of a delivery say what is to be done: `claimed_until` is set while a worker attempts it, so that
 * the delivery of a worker that died is taken over when that time has passed.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table webhook_endpoints (
      id uuid primary key,
      merchant_id uuid not null references merchants (id),
      url text not null check (length(url) <= 2048),
      types text[] check (cardinality(types) > 0),
      secret bytea not null,
      master_key_version integer not null,
      previous_secret bytea,
      previous_master_key_version integer,
      previous_valid_until timestamptz(3),
      disabled_at timestamptz(3),
      disabled_reason text,
      created_at timestamptz(3) not null,
      check (num_nonnulls(previous_secret, previous_master_key_version,
                          previous_valid_until) in (0, 3)),
      check (num_nonnulls(disabled_at, disabled_reason) in (0, 2))
    )`.execute(db);
  await sql`create index webhook_endpoints_merchant on webhook_endpoints (merchant_id)`.execute(db);
  await sql`
    create index webhook_endpoints_previous on webhook_endpoints (previous_valid_until)
    where previous_valid_until is not null`.execute(db);

  await sql`
    create table webhook_deliveries (
      id uuid primary key,
      event_id uuid not null references events (id),
      endpoint_id uuid not null references webhook_endpoints (id),
      redelivery_of uuid references webhook_deliveries (id),
      status text not null default 'pending'
        check (status in ('pending', 'succeeded', 'failed', 'cancelled')),
      attempts integer not null default 0 check (attempts >= 0),
      next_attempt_at timestamptz(3),
      claimed_until timestamptz(3),
      created_at timestamptz(3) not null,
      finished_at timestamptz(3),
      check ((status = 'pending') = (next_attempt_at is not null)),
      check ((status = 'pending') = (finished_at is null)),
      check (status = 'pending' or claimed_until is null)
    )`.execute(db);
  // An event goes to an endpoint once, however often it is sent again by hand.
  await sql`
    create unique index webhook_deliveries_once on webhook_deliveries (event_id, endpoint_id)
    where redelivery_of is null`.execute(db);
  await sql`
    create index webhook_deliveries_endpoint
    on webhook_deliveries (endpoint_id, created_at desc, id desc)`.execute(db);
  await sql`
    create index webhook_deliveries_due on webhook_deliveries (next_attempt_at)
    where status = 'pending'`.execute(db);

  await sql`
    create table webhook_attempts (
      id uuid primary key,
      delivery_id uuid not null references webhook_deliveries (id),
      number integer not null check (number > 0),
      at timestamptz(3) not null,
      duration_ms integer not null check (duration_ms >= 0),
      status_code integer,
      error text,
      response_excerpt text,
      check (num_nonnulls(status_code, error) > 0)
    )`.execute(db);
  await sql`create index webhook_attempts_delivery on webhook_attempts (delivery_id, at)`.execute(
    db,
  );
  await sql`
    create trigger webhook_attempts_append_only
    before update or delete or truncate on webhook_attempts
    for each statement execute function refuse_change()`.execute(db);
}
