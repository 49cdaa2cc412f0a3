import { type Kysely, sql } from 'kysely';

/**
 * Links that people have asked for by mail. Such a link ends none that others have made for them, and resets no wrong
 * codes.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table panel_links add column by_mail boolean not null default false`.execute(db);
}
