import { type Kysely, sql } from 'kysely';

/** The language that a person has chosen for the panel and for mail, as a BCP 47 tag; null for that of their browser. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table people add column language text`.execute(db);
}
