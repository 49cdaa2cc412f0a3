import { sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { Deposit } from '../../database/deposit-tables.ts';

/** A deposit that a watcher has seen and that is not final yet, with what decides when it is. */
export interface UnsettledDeposit extends Deposit {
  contract: string | null;
  /** The network's rule of finality; null for the chain's default. */
  finality: string | null;
  /** What its payment asks for, in cents; null without a payment. */
  cents: number | null;
}

/**
 * Deposits of a chain that are seen in a block of at most `height`, in the order of their blocks, those of
 * a transaction together: it is looked up, and its evidence kept, with each page that it is on.
 * @param after Continues behind this deposit.
 */
export async function listUnsettled(
  db: Connection,
  chain: string,
  height: number,
  after: Pick<Deposit, 'block_height' | 'transaction_hash' | 'id'> | null,
  limit: number,
): Promise<UnsettledDeposit[]> {
  const { rows } = await sql<UnsettledDeposit>`
    select deposits.*, networks.contract, networks.finality, payments.amount as cents
    from networks join deposits on deposits.blockchain_id = networks.id
    left join payments on payments.id = deposits.payment_id
    where networks.chain = ${chain} and deposits.state = 'seen' and deposits.source = 'chain'
      and deposits.block_height <= ${height}
      and (deposits.block_height, deposits.transaction_hash, deposits.id)
        > (${after?.block_height ?? -1}, ${after?.transaction_hash ?? ''}, ${after?.id ?? NIL}::uuid)
    order by deposits.block_height, deposits.transaction_hash, deposits.id
    limit ${limit}`.execute(db);
  return rows;
}

const NIL = '00000000-0000-0000-0000-000000000000';

/** Seen deposits of a chain that are in no block: in a mempool, or undone. */
export async function listUnplaced(
  db: Connection,
  chain: string,
  limit: number,
): Promise<UnsettledDeposit[]> {
  const { rows } = await sql<UnsettledDeposit>`
    select deposits.*, networks.contract, networks.finality, payments.amount as cents
    from networks join deposits on deposits.blockchain_id = networks.id
    left join payments on payments.id = deposits.payment_id
    where networks.chain = ${chain} and deposits.state = 'seen' and deposits.source = 'chain'
      and deposits.block_height is null
    order by deposits.updated_at, deposits.id limit ${limit}`.execute(db);
  return rows;
}

/** Takes seen deposits above a height out of their blocks; they stay seen until they are found again. */
export async function unplaceAbove(
  db: Connection,
  chain: string,
  height: number,
  now: Date,
): Promise<void> {
  await sql`
    update deposits set block_height = null, block_hash = null, updated_at = ${now}
    from networks
    where networks.id = deposits.blockchain_id and networks.chain = ${chain}
      and deposits.state = 'seen' and deposits.source = 'chain'
      and deposits.block_height > ${height}`.execute(db);
}

/** Final deposits of a chain above a height, the lowest first. */
export async function listFinalAbove(
  db: Connection,
  chain: string,
  height: number,
  limit: number,
): Promise<Deposit[]> {
  const { rows } = await sql<Deposit>`
    select deposits.* from networks join deposits on deposits.blockchain_id = networks.id
    where networks.chain = ${chain} and deposits.state = 'final' and deposits.source = 'chain'
      and deposits.block_height > ${height}
    order by deposits.block_height limit ${limit}`.execute(db);
  return rows;
}

/** What arrived at addresses of a network in blocks above `from` up to `to`, by address. */
export async function sumArrivals(
  db: Connection,
  blockchainId: string,
  range: { readonly from: number; readonly to: number },
  addresses: readonly string[],
): Promise<Map<string, bigint>> {
  const { rows } = await sql<{ address: string; sum: string }>`
    select address, sum(token_amount)::text as sum from deposits
    where blockchain_id = ${blockchainId} and source = 'chain' and state in ('seen', 'final')
      and block_height > ${range.from} and block_height <= ${range.to}
      and address = any(${addresses}::text[])
    group by address`.execute(db);
  return new Map(rows.map(({ address, sum }) => [address, BigInt(sum)]));
}
