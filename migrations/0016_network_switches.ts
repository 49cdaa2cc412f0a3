import { type Kysely, sql } from 'kysely';

/**
 * When an operator last switched a network on or off; null for one that is as this service ships it.
 * Test networks that nobody switched on are switched off by the first process in production, since a
 * migration does not know where it runs.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table networks add column switched_at timestamptz(3)`.execute(db);
}
