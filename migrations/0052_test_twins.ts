import { type Kysely, sql } from 'kysely';

/** Which live merchant a test merchant is the twin of; a live merchant has at most one. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table merchants
      add column test_of uuid references merchants (id),
      add constraint merchants_test_of check (test_of is null or environment = 'test')`.execute(db);
  await sql`
    create unique index merchants_one_twin on merchants (test_of) where test_of is not null`.execute(
    db,
  );
}
