import { type Kysely, sql } from 'kysely';

/**
 * When the processor is asked again about a payment of a US account, which goes on until the payment
 * has ended: a notification may be lost. Payments of the previous release are asked about when their
 * time is over, as they were.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table payments add column inquire_at timestamptz(3)`.execute(db);
  await sql`
    create index payments_inquiries on payments (coalesce(inquire_at, expires_at))
    where flow = 'regulated' and status = 'pending'`.execute(db);
}
