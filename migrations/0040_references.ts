import { type Kysely, sql } from 'kysely';

/** The accounts by which a wallet may have named a payment: a deposit that no payment took may be matched again. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table deposits add column reference_accounts text[]`.execute(db);
}
