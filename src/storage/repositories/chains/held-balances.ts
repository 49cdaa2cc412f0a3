import { sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';

/** Balance of an address after a block, in the asset of a network. */
export interface HeldBalance {
  address: string;
  height: number;
  /** Integer of the asset's smallest unit. */
  balance: bigint;
}

/** The newest balance that is known of each address. */
export async function listBalances(
  db: Connection,
  blockchainId: string,
  addresses: readonly string[],
): Promise<HeldBalance[]> {
  const { rows } = await sql<{ address: string; height: number; balance: string }>`
    select given.address, newest.height, newest.balance::text as balance
    from unnest(${addresses}::text[]) as given (address)
    cross join lateral (
      select height, balance from held_balances
      where blockchain_id = ${blockchainId} and address = given.address
      order by height desc limit 1) as newest`.execute(db);
  return rows.map(row => ({ ...row, balance: BigInt(row.balance) }));
}

/** Records balances; a newer reading of the same block replaces the older one. */
export async function putBalances(
  db: Connection,
  blockchainId: string,
  balances: readonly HeldBalance[],
): Promise<void> {
  if (balances.length === 0) return;
  await sql`
    insert into held_balances (blockchain_id, address, height, balance)
    select ${blockchainId}, given.address, given.height, given.balance
    from unnest(${balances.map(({ address }) => address)}::text[],
                ${balances.map(({ height }) => height)}::bigint[],
                ${balances.map(({ balance }) => String(balance))}::numeric[])
         as given (address, height, balance)
    on conflict (blockchain_id, address, height) do update set balance = excluded.balance`.execute(
    db,
  );
}

/** Deletes the balances of a chain's assets above a height that was undone. */
export async function cutBalances(db: Connection, chain: string, height: number): Promise<void> {
  await db
    .deleteFrom('held_balances')
    .using('networks')
    .whereRef('networks.id', '=', 'held_balances.blockchain_id')
    .where('networks.chain', '=', chain)
    .where('held_balances.height', '>', height)
    .execute();
}

/**
 * Deletes balances of addresses that are not watched on the network, and balances that are older than the newest final
 * one of their address: no branch begins before that.
 */
export async function trimBalances(
  db: Connection,
  blockchainId: string,
  finalHeight: number,
  watched: readonly string[],
): Promise<void> {
  await sql`
    delete from held_balances as old
    using (
      select address, max(height) filter (where height <= ${finalHeight}) as final
      from held_balances where blockchain_id = ${blockchainId} group by address
    ) as kept
    where old.blockchain_id = ${blockchainId} and old.address = kept.address
      and (old.height < kept.final or old.address <> all(${watched}::text[]))`.execute(db);
}
