import { type Kysely, sql } from 'kysely';

/** How many calls a node may be asked a day, and how many all processes have made today. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table nodes add calls_per_day bigint check (calls_per_day > 0)`.execute(db);
  await sql`
    create table node_calls (
      node uuid primary key references nodes (id) on delete cascade,
      day date not null,
      calls bigint not null,
      window_from timestamptz(3) not null,
      window_calls bigint not null,
      per_day bigint
    ) with (fillfactor = 50)`.execute(db);
}
