import { type Kysely, sql } from 'kysely';

/**
 * What the database goes back to: a lineage begins with the first start of the service, and another one whenever an
 * operator confirms that the database was restored to an earlier time. Until then the new one has not begun, and
 * nothing is written. Deliveries that may have been made in the time that is lost are withheld.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table lineages (
      id uuid primary key,
      number integer generated always as identity,
      noticed_at timestamptz(3) not null,
      noticed_by text not null,
      restored_to timestamptz(3),
      lost_until timestamptz(3),
      begun_at timestamptz(3),
      check (num_nonnulls(restored_to, begun_at) > 0)
    )`.execute(db);
  await sql`create unique index lineages_not_begun on lineages ((true)) where begun_at is null`.execute(
    db,
  );
  await sql`alter table webhook_deliveries drop constraint webhook_deliveries_status_check`.execute(
    db,
  );
  // What is there has one of the former values, so that the table need not be read under this lock.
  await sql`
    alter table webhook_deliveries add constraint webhook_deliveries_status_check
    check (status in ('pending', 'succeeded', 'failed', 'cancelled', 'withheld')) not valid`.execute(
    db,
  );
}
