import { type Kysely, sql } from 'kysely';

/**
 * What a provider leaves out, without an error, must not let a payment expire.
 *
 * - `chains.expires_until`: up to when payments may expire, and quotes lapse: their blocks have been looked at twice, and
 *   what their addresses hold is explained. Until the first tick of this release it is what the previous one went by.
 * - `held_balances`: what watched addresses hold of each asset, by which that is judged. It takes the place of
 *   `native_balances`, which only the previous release still writes; a later migration drops it.
 * - `findings.since_height`: the block before those in which a balance rose, so that they can be read again. Such a finding
 *   holds the payments of its address from now on, as one of something unreadable does.
 */
export const steps = [
  addExpiryTime,
  createBalances,
  copyBalances,
  addSince,
  {
    index: 'findings_holding',
    on: `on findings (blockchain_id, address)
         where kind in ('unreadable', 'unexplained_inflow') and resolved_at is null`,
  },
  dropFormerIndex,
];

async function addExpiryTime(db: Kysely<unknown>): Promise<void> {
  await sql`alter table chains add column expires_until timestamptz(3)`.execute(db);
  await sql`update chains set expires_until = watched_until`.execute(db);
}

async function createBalances(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table held_balances (
      blockchain_id text not null references networks (id),
      address text not null,
      height bigint not null,
      balance numeric(78, 0) not null,
      primary key (blockchain_id, address, height)
    )`.execute(db);
}

/** The native asset of a chain is the network of the same name. */
async function copyBalances(db: Kysely<unknown>): Promise<void> {
  await sql`
    insert into held_balances (blockchain_id, address, height, balance)
    select chain, address, height, balance from native_balances`.execute(db);
}

async function addSince(db: Kysely<unknown>): Promise<void> {
  await sql`alter table findings add column since_height bigint`.execute(db);
}

async function dropFormerIndex(db: Kysely<unknown>): Promise<void> {
  await sql`drop index findings_unreadable`.execute(db);
}
