import { type Kysely, sql } from 'kysely';

/** Where people may look at a transaction, with `{hash}` in its place: a choice of the operator. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table networks add column explorer text`.execute(db);
}
