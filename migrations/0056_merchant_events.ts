import { type Kysely, sql } from 'kysely';

/**
 * A merchant's events by type, in the order of a list. A list of several types merges them, so that this is the
 * only index that a creation has to keep.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create index events_merchant on events (merchant_id, type, created_at desc, id desc)`.execute(
    db,
  );
}
