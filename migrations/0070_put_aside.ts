import { type Kysely, sql } from 'kysely';

/** What needs attention in an account, and a person has put aside. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table attention_put_aside (
      person_id uuid not null references people (id) on delete cascade,
      -- A merchant or a partner.
      account_id uuid not null,
      item text not null check (length(item) <= 200),
      at timestamptz(3) not null,
      primary key (person_id, account_id, item)
    )`.execute(db);
  await sql`create index attention_put_aside_at on attention_put_aside (at)`.execute(db);
}
