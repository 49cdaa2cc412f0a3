import { sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { Deposit, DepositState } from '../../database/deposit-tables.ts';

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
export function listUnsettled(
  db: Connection,
  chain: string,
  height: number,
  after: Pick<Deposit, 'block_height' | 'transaction_hash' | 'id'> | null,
  limit: number,
): Promise<UnsettledDeposit[]> {
  return unsettled(db, chain)
    .where('block_height', '<=', height)
    .where(({ eb, refTuple, tuple }) =>
      eb(
        refTuple('block_height', 'deposits.transaction_hash', 'deposits.id'),
        '>',
        tuple(after?.block_height ?? -1, after?.transaction_hash ?? '', after?.id ?? NIL),
      ),
    )
    .orderBy('block_height')
    .orderBy('deposits.transaction_hash')
    .orderBy('deposits.id')
    .limit(limit)
    .execute();
}

const NIL = '00000000-0000-0000-0000-000000000000';

/**
 * Seen deposits of a chain that are in no block: in a mempool, or undone.
 * @param cursor Includes those in blocks above this height, which an interrupted scan has recorded. null for none.
 */
export function listUnplaced(
  db: Connection,
  chain: string,
  limit: number,
  cursor: number | null = null,
): Promise<UnsettledDeposit[]> {
  return unsettled(db, chain)
    .where(({ eb, or }) =>
      or([
        eb('block_height', 'is', null),
        ...(cursor === null ? [] : [eb('block_height', '>', cursor)]),
      ]),
    )
    .orderBy('deposits.updated_at')
    .orderBy('deposits.id')
    .limit(limit)
    .execute();
}

/** Adds outputs that ancestors of a transaction spend to `ancestry` of its deposits. */
export async function addAncestry(
  db: Connection,
  blockchainId: string,
  transactionHash: string,
  outputs: readonly string[],
): Promise<void> {
  await sql`
    update deposits
    set ancestry = array(select unnest(ancestry) union select unnest(${outputs}::text[]))
    where blockchain_id = ${blockchainId} and transaction_hash = ${transactionHash}`.execute(db);
}

/** Sets since when deposits have been in no mempool and in no block; null for those that are in one. */
export async function setMissingSince(
  db: Connection,
  ids: readonly string[],
  since: Date | null,
): Promise<void> {
  if (ids.length === 0) return;
  await db
    .updateTable('deposits')
    .set({ missing_since: since })
    .where(({ eb, fn, val }) => eb('id', '=', fn.any(val(ids))))
    .execute();
}

function unsettled(db: Connection, chain: string) {
  return ofChain(db, chain, 'seen')
    .leftJoin('payments', 'payments.id', 'deposits.payment_id')
    .select(['networks.contract', 'networks.finality', 'payments.amount as cents']);
}

function ofChain(db: Connection, chain: string, state: DepositState) {
  return db
    .selectFrom('networks')
    .innerJoin('deposits', 'deposits.blockchain_id', 'networks.id')
    .selectAll('deposits')
    .where('networks.chain', '=', chain)
    .where('state', '=', sql.lit(state))
    .where('source', '=', sql.lit('chain'));
}

/** Takes seen deposits above a height out of their blocks; they stay seen until they are found again. */
export async function unplaceAbove(
  db: Connection,
  chain: string,
  height: number,
  now: Date,
): Promise<void> {
  await db
    .updateTable('deposits')
    .from('networks')
    .set({ block_height: null, block_hash: null, updated_at: now })
    .whereRef('networks.id', '=', 'deposits.blockchain_id')
    .where('networks.chain', '=', chain)
    .where('state', '=', sql.lit('seen'))
    .where('source', '=', sql.lit('chain'))
    .where('block_height', '>', height)
    .execute();
}

/**
 * Takes seen deposits of scanned heights out of their blocks, unless the scan has found transfers in the same blocks.
 * An interrupted scan has recorded them above the cursor. If a fork undoes only blocks above it, nothing else notices
 * until they are deep enough to be final.
 * @param scanned `hashes` are those of the blocks with transfers.
 */
export async function unplaceOther(
  db: Connection,
  chain: string,
  scanned: {
    readonly from: number;
    readonly through: { readonly height: number };
    readonly hashes: readonly string[];
  },
  now: Date,
): Promise<void> {
  const { from, through, hashes } = scanned;
  await sql`
    update deposits set block_height = null, block_hash = null, updated_at = ${now}
    from networks
    where networks.id = deposits.blockchain_id and networks.chain = ${chain}
      and state = 'seen' and source = 'chain' and block_height between ${from} and ${through.height}
      and block_hash <> all(${hashes}::text[])`.execute(db);
}

/** Final deposits of a chain above a height, the lowest first. */
export function listFinalAbove(
  db: Connection,
  chain: string,
  height: number,
  limit: number,
): Promise<Deposit[]> {
  return ofChain(db, chain, 'final')
    .where('block_height', '>', height)
    .orderBy('block_height')
    .limit(limit)
    .execute();
}

/**
 * What arrived at addresses of a network in blocks above `from` up to `to`, by address.
 * @param observedSince Counts only what was recorded at this time or later, if it is given.
 */
export async function sumArrivals(
  db: Connection,
  blockchainId: string,
  range: { readonly from: number; readonly to: number },
  addresses: readonly string[],
  observedSince: Date = new Date(0),
): Promise<Map<string, bigint>> {
  const rows = await db
    .selectFrom('deposits')
    .select(({ fn }) => ['address', fn.sum<string>('token_amount').as('sum')])
    .where('blockchain_id', '=', blockchainId)
    .where('source', '=', 'chain')
    .where('state', 'in', ['seen', 'final'])
    .where('block_height', '>', range.from)
    .where('block_height', '<=', range.to)
    .where('observed_at', '>=', observedSince)
    .where(({ eb, fn, val }) => eb('address', '=', fn.any(val(addresses))))
    .groupBy('address')
    .execute();
  return new Map(rows.map(({ address, sum }) => [address, BigInt(sum)]));
}
