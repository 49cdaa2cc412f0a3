import { type Kysely, sql } from 'kysely';

/** The findings that hold payments at an address, which is asked for each payment that is due. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create index findings_unreadable on findings (blockchain_id, address)
    where kind = 'unreadable' and resolved_at is null`.execute(db);
}
