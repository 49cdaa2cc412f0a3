import { type Kysely, sql } from 'kysely';

/**
 * Leaves PostgreSQL one way to read what endpoints have not taken, whatever its statistics say. Other indexes have
 * deliveries by their endpoint and time as well, and with statistics of another day it read all that an endpoint was
 * ever sent. The endpoint's ID as text is in one index alone. The previous release, which does not ask for it so,
 * reads by those others during an upgrade.
 *
 * The trigger that clears the type of a first delivery read all that was not taken, by a plan that was kept from when
 * there was nothing. Its condition no longer implies that of the index, which is therefore not for it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`drop index webhook_deliveries_untaken`.execute(db);
  await sql`
    create index webhook_deliveries_untaken
    on webhook_deliveries ((endpoint_id::text), untaken_type, created_at desc, event_id desc)
    where untaken_type is not null`.execute(db);

  await sql`
    create or replace function clear_original_untaken_type() returns trigger language plpgsql as $$
    begin
      update webhook_deliveries set untaken_type = null
      where event_id = new.event_id and endpoint_id = new.endpoint_id and redelivery_of is null
        and coalesce(untaken_type, '') <> '';
      return null;
    end $$`.execute(db);
}
