import { type Kysely, sql } from 'kysely';

/** When the worker has to act on a payment that has not ended, besides its expiry. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // When the processor is asked again about a payment of a US account, which goes on until the payment
  // has ended: a notification may be lost. Payments of the previous release have no such time, and are
  // asked about at their expiry, as they were.
  await sql`alter table payments add column inquire_at timestamptz(3)`.execute(db);
  await sql`
    create index payments_inquiries on payments (coalesce(inquire_at, expires_at))
    where flow = 'regulated' and status = 'pending'`.execute(db);

  // Until when a payment that waits longer than its network's window keeps its price.
  await sql`alter table payments add column quoted_until timestamptz(3)`.execute(db);
  await sql`
    create index payments_quoted on payments (quoted_until)
    where status = 'pending' and session_status = 'pending'
      and quoted_until is not null and blockchain_id is not null`.execute(db);

  // Payments of merchants that were deactivated are looked for all the time, and such merchants are few.
  await sql`create index merchants_inactive on merchants (id) where status = 'inactive'`.execute(
    db,
  );
}
