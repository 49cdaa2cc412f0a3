import { type Kysely, sql } from 'kysely';

/**
 * When replicas last listened for changes to accounts, in one row. A session that ended leaves no trace
 * in PostgreSQL, while its replica may trust what it has cached for a moment longer: whoever changes
 * something waits for that moment if anybody listened lately.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table change_listeners (
      only_row boolean primary key default true check (only_row),
      listened_at timestamptz not null
    ) with (fillfactor = 50)`.execute(db);
}
