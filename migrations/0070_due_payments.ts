import { type Kysely, sql } from 'kysely';

/** No statement reads payments by it any more, since `payments_expiring` and `payments_inquiries` tell which are due. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`drop index payments_due`.execute(db);
}
