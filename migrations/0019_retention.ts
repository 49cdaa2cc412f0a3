import { type Kysely, sql } from 'kysely';

/** Tables that were only ever added to, and the column with the time of a row. */
const KEPT = [
  ['events', 'created_at'],
  ['webhook_attempts', 'at'],
] as const;

/**
 * Lets events, their deliveries and attempts be removed when they are old: they are copies of payments
 * and a log of what was sent, while payments and their transitions are kept for ever. What is younger
 * than six days cannot be removed by anybody, and nothing can be changed. That is a day less than the
 * shortest RETENTION_DAYS, since clocks differ.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [table, column] of KEPT) {
    const keep = sql.id(`${table}_keep`);
    await sql`drop trigger ${sql.id(`${table}_append_only`)} on ${sql.table(table)}`.execute(db);
    await sql`
      create trigger ${sql.id(`${table}_append_only`)}
      before update or truncate on ${sql.table(table)}
      for each statement execute function refuse_change()`.execute(db);
    await sql`
      create trigger ${keep} before delete on ${sql.table(table)}
      for each row when (old.${sql.ref(column)} > now() - interval '6 days')
      execute function refuse_change()`.execute(db);
  }

  // By these the foreign keys are checked when an event or a delivery is removed; the first also finds
  // what the partial index found.
  await sql`create index webhook_deliveries_event on webhook_deliveries (event_id)`.execute(db);
  await sql`drop index webhook_deliveries_again`.execute(db);
  await sql`
    create index webhook_deliveries_original on webhook_deliveries (redelivery_of)
    where redelivery_of is not null`.execute(db);
}
