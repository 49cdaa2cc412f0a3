import { type Kysely, sql } from 'kysely';

/**
 * Parts of ended payments that were given back: in whose books, when that was recorded, to whom and by which
 * transaction. A return is booked when it is recorded, since the month of the part's own row may be closed. So nothing
 * of it is in `deposits` either: the previous release would show it in that row.
 *
 * Without foreign keys, like `booked_deposits`.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table booked_returns (
      deposit_id uuid primary key,
      merchant_id uuid not null,
      booked_at timestamptz(3) not null,
      returned_to text not null,
      transaction_hash text not null,
      note text
    )`.execute(db);
  await sql`
    create index booked_returns_merchant
    on booked_returns (merchant_id, booked_at, deposit_id)`.execute(db);
  await sql`
    create trigger booked_returns_append_only before update or delete or truncate on booked_returns
    for each statement execute function refuse_change()`.execute(db);
}
