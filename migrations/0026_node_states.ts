import { type Kysely, sql } from 'kysely';

/** What the watcher of a chain last saw of each node: operators ask another process. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table node_states (
      node uuid primary key references nodes (id) on delete cascade,
      state text not null check (state in ('unknown', 'up', 'behind', 'failing', 'refused')),
      height bigint,
      last_error text,
      at timestamptz(3) not null
    ) with (fillfactor = 50)`.execute(db);
}
