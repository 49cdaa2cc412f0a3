import { type Kysely, sql } from 'kysely';

/**
 * Which sign-in e-mails are confirmed, by a link in a mail: only those are unique, so that nobody occupies the e-mail of
 * somebody else by naming it. Those of all people who are there already count as confirmed, and so do those that the
 * previous release still writes.
 *
 * The previous release finds people by their e-mail alone. While it still runs, it may compare the password of somebody
 * with that of another person who has named the same e-mail, and refuse it; it never signs anybody in as another
 * person, since each sign-in is compared with the row that was found. Its worker drops mails with a link that confirms,
 * which people can ask for again.
 */
export const steps = [addTime, createLinks, makeConfirmedUnique];

async function addTime(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table people add column email_confirmed_at timestamptz(3) default now()`.execute(db);
}

async function createLinks(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table email_links (
      id uuid primary key,
      token_hash bytea not null unique,
      person_id uuid not null references people (id),
      email text not null,
      created_at timestamptz(3) not null,
      expires_at timestamptz(3) not null,
      used_at timestamptz(3)
    )`.execute(db);
  await sql`create index email_links_person on email_links (person_id)`.execute(db);
  await sql`create index email_links_expiry on email_links (expires_at)`.execute(db);
}

async function makeConfirmedUnique(db: Kysely<unknown>): Promise<void> {
  await sql`drop index people_email`.execute(db);
  await sql`
    create unique index people_confirmed_email on people (lower(email))
    where email_confirmed_at is not null`.execute(db);
}
