import { type Kysely, sql } from 'kysely';

/**
 * Since when a user of a merchant has its role, status and person, and a person the present factors: who approves
 * a change of where money goes must have been there for a while. And when a link last gave a person factors.
 *
 * Of what is there already the times are not known, so they begin now. A release that does not write them, and
 * every change by other means, gets the time of the change.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table people
      add column factors_since timestamptz(3) not null default now(),
      add column recovered_at timestamptz(3)`.execute(db);
  await sql`
    alter table merchant_users
      add column standing_since timestamptz(3) not null default now()`.execute(db);
  await sql`
    create function keep_standing() returns trigger language plpgsql as $$
    begin
      if (new.role, new.status, new.person_id) is not distinct from
         (old.role, old.status, old.person_id) then
        new.standing_since := old.standing_since;
      elsif new.standing_since = old.standing_since then
        new.standing_since := now();
      end if;
      return new;
    end $$`.execute(db);
  await sql`
    create trigger merchant_users_standing before update on merchant_users
    for each row execute function keep_standing()`.execute(db);
}
