import { type Kysely, sql } from 'kysely';

/**
 * What an accounting export reads: deposits that were dismissed, in the order in which that was done, and the price
 * at which a payment's deposit became final.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // The price of now is not that of deposits that were final before.
  await sql`
    alter table deposits add column price_wanted boolean not null default false`.execute(db);
  await sql`alter table deposits alter column price_wanted set default true`.execute(db);
  await sql`
    create index deposits_dismissed on deposits (blockchain_id, address, dismissed_at, id)
    where dismissed_at is not null`.execute(db);
  await sql`
    create index deposits_settled_unpriced on deposits (blockchain_id, observed_at)
    where payment_id is not null and state = 'final' and usd_price is null and price_wanted`.execute(
    db,
  );
}
