import { type Kysely, sql } from 'kysely';

/**
 * Transfers that are worth nothing to anybody, counted for each address and day instead of recorded one by
 * one: whoever wants to can send as many as he likes.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table dust (
      blockchain_id text not null references networks (id),
      address text not null,
      day date not null,
      transfers bigint not null check (transfers > 0),
      token_amount numeric(78, 0) not null check (token_amount >= 0),
      first_hash text not null,
      last_hash text not null,
      primary key (day, blockchain_id, address)
    )`.execute(db);
  // What was asked for at an address lately tells which transfers there are dust.
  await sql`
    create index reservations_lately on reservations (blockchain_id, address, released_at)`.execute(
    db,
  );
}
