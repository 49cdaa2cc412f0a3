import { type Kysely, sql } from 'kysely';

/**
 * What people are told by mail, written in the transaction of what it tells of and sent by the worker. A mail keeps
 * its address, and what its text says, until it has ended; after that it stays for a while, so that nobody is told of
 * one occasion twice. It refers to no row of people: what checks that would lock their rows, in another order than forms
 * with a code do, and nobody is ever deleted.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table mails (
      id uuid primary key,
      kind text not null,
      person_id uuid,
      email text,
      occasion text,
      facts jsonb not null,
      attempts smallint not null default 0,
      created_at timestamptz(3) not null,
      due_at timestamptz(3),
      outcome text check (outcome in ('sent', 'given-up', 'dropped')),
      ended_at timestamptz(3),
      check ((outcome is null) = (ended_at is null)),
      check ((outcome is null) = (due_at is not null)),
      check (outcome is null or (email is null and facts = '{}'))
    )`.execute(db);
  await sql`create index mails_due on mails (due_at) where outcome is null`.execute(db);
  await sql`create unique index mails_occasion on mails (person_id, occasion)`.execute(db);
  await sql`create index mails_created on mails (created_at)`.execute(db);
  // Of keys that are about to expire people are told.
  await sql`
    create index api_keys_expiry on api_keys (expires_at)
    where revoked_at is null and expires_at is not null`.execute(db);
}
