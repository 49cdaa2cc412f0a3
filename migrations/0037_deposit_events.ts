import { type Kysely, sql } from 'kysely';

/**
 * Events of deposits go only to endpoints that name their type. The endpoints there are keep what they get:
 * one that names no type, and so gets all, goes on getting these too.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table webhook_endpoints
      add column deposit_events boolean not null default false`.execute(db);
  await sql`update webhook_endpoints set deposit_events = true where types is null`.execute(db);
}
