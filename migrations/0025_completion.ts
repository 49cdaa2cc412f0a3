import { type Kysely, sql } from 'kysely';

/**
 * Payments that too little has arrived for: the rest is an amount of its own, beside the whole; or a
 * merchant tolerates that a little is missing. And what serves payments whose end waits for a watcher,
 * and events of deposits that no payment takes.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table reservations add column rest_of uuid references deposits (id)`.execute(db);
  await sql`drop index reservations_payment`.execute(db);
  await sql`
    create unique index reservations_payment on reservations (payment_id, (rest_of is not null))
    where released_at is null`.execute(db);

  // Not validated, so that the table need not be read for it while it is locked.
  await sql`
    alter table deposits
      drop constraint deposits_outcome_check,
      add constraint deposits_outcome_check check (outcome in
        ('exact', 'over', 'tolerated', 'under', 'rest', 'late', 'duplicate', 'ambiguous', 'unknown',
         'assigned')) not valid`.execute(db);
  await sql`
    alter table merchants
      add column underpayment_tolerance_bps integer not null default 0
        check (underpayment_tolerance_bps between 0 and 200)`.execute(db);

  // By network, since each has its own time up to which its chain is watched: what has to wait for a watcher
  // is not read again and again.
  await sql`
    create index payments_expiring on payments (coalesce(blockchain_id, ''), expires_at)
    where flow = 'crypto' and status = 'pending' and session_status = 'pending'`.execute(db);
  await sql`drop index payments_quoted`.execute(db);
  await sql`
    create index payments_quoted on payments (blockchain_id, quoted_until)
    where status = 'pending' and session_status = 'pending' and quoted_until is not null`.execute(
    db,
  );

  await sql`alter table events alter column payment_id drop not null`.execute(db);
  // Leads from an address to whoever is told of a deposit there.
  await sql`
    create index deposit_addresses_address on deposit_addresses (blockchain_id, address)`.execute(
    db,
  );
}
