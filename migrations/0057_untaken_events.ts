import { type Kysely, sql } from 'kysely';

/**
 * Lets the events be listed that an endpoint has not taken, by type and in their order, however many it has taken
 * and however many were sent again by hand. The delivery that was made with the event has the event's type until
 * it, or one that repeats it, succeeds. Triggers see to that, so that it holds for what the previous release writes
 * during an upgrade as well. What is inserted with a type needs none of them.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table webhook_deliveries add column untaken_type text`.execute(db);
  await sql`
    update webhook_deliveries as sent set untaken_type = events.type
    from events
    where events.id = sent.event_id and sent.redelivery_of is null and sent.status <> 'succeeded'
      and not exists (
        select from webhook_deliveries as again
        where again.event_id = sent.event_id and again.endpoint_id = sent.endpoint_id
          and again.status = 'succeeded')`.execute(db);
  await sql`
    create index webhook_deliveries_untaken
    on webhook_deliveries (endpoint_id, untaken_type, created_at desc, event_id desc)
    where untaken_type is not null`.execute(db);

  await sql`
    create function set_untaken_type() returns trigger language plpgsql as $$
    begin
      new.untaken_type := (select type from events where id = new.event_id);
      return new;
    end $$`.execute(db);
  await sql`
    create trigger webhook_deliveries_untaken before insert on webhook_deliveries
    for each row when (
      new.untaken_type is null and new.redelivery_of is null and new.status <> 'succeeded')
    execute function set_untaken_type()`.execute(db);

  await sql`
    create function clear_untaken_type() returns trigger language plpgsql as $$
    begin
      new.untaken_type := null;
      return new;
    end $$`.execute(db);
  await sql`
    create trigger webhook_deliveries_taken before update of status on webhook_deliveries
    for each row when (new.status = 'succeeded' and new.untaken_type is not null)
    execute function clear_untaken_type()`.execute(db);

  await sql`
    create function clear_original_untaken_type() returns trigger language plpgsql as $$
    begin
      update webhook_deliveries set untaken_type = null
      where event_id = new.event_id and endpoint_id = new.endpoint_id and redelivery_of is null
        and untaken_type is not null;
      return null;
    end $$`.execute(db);
  await sql`
    create trigger webhook_deliveries_taken_again after insert or update of status on webhook_deliveries
    for each row when (new.status = 'succeeded' and new.redelivery_of is not null)
    execute function clear_original_untaken_type()`.execute(db);
}
