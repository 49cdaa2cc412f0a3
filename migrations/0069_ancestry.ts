import { type Kysely, sql } from 'kysely';

/**
 * What an unconfirmed Bitcoin transaction depends on, so that another spending of it, in a block, undoes what descends from
 * the first one; and since when one is in no mempool, which a restart must not begin anew.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table deposits
      add column ancestry text[],
      add column missing_since timestamptz(3)`.execute(db);
}
