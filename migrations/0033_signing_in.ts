import { type Kysely, sql } from 'kysely';

/**
 * When too many wrong codes were entered for a person, which devices a person has signed in with, and the link that
 * a session was begun for, with the session that it replaces in the browser.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table people add column code_closed_at timestamptz(3)`.execute(db);
  await sql`alter table panel_sessions add column link_hash bytea`.execute(db);
  await sql`alter table panel_sessions add column replaced_id uuid`.execute(db);
  // A link forgets what failed on each of them.
  await sql`create index known_devices_person on known_devices (person_id, created_at)`.execute(db);
}
