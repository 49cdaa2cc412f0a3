import { sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';

/** What an address held at a block. */
export interface NativeBalance {
  address: string;
  height: number;
  /** Integer of the asset's smallest unit. */
  balance: bigint;
}

/** The newest balance that is known of each address. */
export async function listBalances(
  db: Connection,
  chain: string,
  addresses: readonly string[],
): Promise<NativeBalance[]> {
  const { rows } = await sql<{ address: string; height: number; balance: string }>`
    select given.address, newest.height, newest.balance::text as balance
    from unnest(${addresses}::text[]) as given (address)
    cross join lateral (
      select height, balance from native_balances
      where chain = ${chain} and address = given.address
      order by height desc limit 1) as newest`.execute(db);
  return rows.map(row => ({ ...row, balance: BigInt(row.balance) }));
}

/** Records balances; a newer reading of the same block replaces the older one. */
export async function putBalances(
  db: Connection,
  chain: string,
  balances: readonly NativeBalance[],
): Promise<void> {
  if (balances.length === 0) return;
  await sql`
    insert into native_balances (chain, address, height, balance)
    select ${chain}, given.address, given.height, given.balance
    from unnest(${balances.map(({ address }) => address)}::text[],
                ${balances.map(({ height }) => height)}::bigint[],
                ${balances.map(({ balance }) => String(balance))}::numeric[])
         as given (address, height, balance)
    on conflict (chain, address, height) do update set balance = excluded.balance`.execute(db);
}

/** Deletes the balances above a height that was undone. */
export async function cutBalances(db: Connection, chain: string, height: number): Promise<void> {
  await db
    .deleteFrom('native_balances')
    .where('chain', '=', chain)
    .where('height', '>', height)
    .execute();
}

/**
 * Deletes balances of addresses that are not watched, and of the others those that are older than the
 * newest final one: no branch begins before it.
 */
export async function trimBalances(
  db: Connection,
  chain: string,
  finalHeight: number,
  watched: readonly string[],
): Promise<void> {
  await sql`
    delete from native_balances as old
    using (
      select address, max(height) filter (where height <= ${finalHeight}) as final
      from native_balances where chain = ${chain} group by address
    ) as kept
    where old.chain = ${chain} and old.address = kept.address
      and (old.height < kept.final or old.address <> all(${watched}::text[]))`.execute(db);
}
