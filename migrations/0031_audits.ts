import { type Kysely, sql } from 'kysely';

/** How far yesterday's blocks of a network were held against the ledger, by a check node. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table network_audits (
      blockchain_id text not null references networks (id),
      day date not null,
      next_height bigint,
      to_height bigint,
      differences integer not null default 0,
      claimed_until timestamptz(3),
      done_at timestamptz(3),
      primary key (blockchain_id, day)
    )`.execute(db);
  await sql`create index network_audits_open on network_audits (day) where done_at is null`.execute(
    db,
  );
}
