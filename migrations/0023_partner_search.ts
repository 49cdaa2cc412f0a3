import { type Kysely, sql } from 'kysely';

/**
 * Lets a search read what it compares from one index: a term that is shorter than three characters, or
 * part of every reference, is compared with each of the partner's payments, and fetching the rows from
 * the table took several times as long. Every search matches parts of a text, so nothing looks for a
 * whole hash or the beginning of a reference.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`drop index payments_partner`.execute(db);
  await sql`
    create index payments_partner on payments (partner_id, created_at desc, id desc)
    include (merchant_id, address, transaction_hash, customer_reference_id)
    where partner_id is not null`.execute(db);
  await sql`drop index payments_partner_hash`.execute(db);
  await sql`drop index payments_partner_reference`.execute(db);
}
