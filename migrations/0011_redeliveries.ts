import { type Kysely, sql } from 'kysely';

/**
 * Finds what was sent again by hand by its event, as `webhook_deliveries_once` finds what was sent
 * the first time: a payment's history asks for both.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create index webhook_deliveries_again on webhook_deliveries (event_id)
    where redelivery_of is not null`.execute(db);
}
