import { type Kysely, sql } from 'kysely';

/**
 * A branch may have several deposit addresses on a network, so that more payments of one price can be
 * open at once: each address has its own distinct amounts. Quotes take the address that is longest
 * unused, which the index finds as the latest reservation of each.
 *
 * `mp address set` of the previous release needs the former primary key, and fails until it is replaced;
 * its service does not.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table deposit_addresses
      drop constraint deposit_addresses_pkey,
      add primary key (branch_id, blockchain_id, address)`.execute(db);
  await sql`
    create index reservations_address on reservations (blockchain_id, address, id desc)`.execute(
    db,
  );
}
