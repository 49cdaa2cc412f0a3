import { type Insertable, sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { Deposit, DepositsTable } from '../../database/deposit-tables.ts';
import { findById, insertInto, listBy, lockById, updateByIdOrThrow } from '../rows.ts';

/** Identifies a transfer on chain. */
interface DepositKey {
  readonly blockchainId: string;
  readonly transactionHash: string;
  readonly position: number;
}

/** Name of an address's lock: its network and itself, in JSON. */
const LOCK_NAME = sql`'["address",' || to_json(blockchain_id) || ',' || to_json(address) || ']'`;

/**
 * Locks addresses until the transaction ends, so that two concurrent transfers cannot match the same payment. One
 * call locks in the order of networks and addresses, which has to be the same in every transaction.
 */
export async function lockAddresses(
  db: Connection,
  addresses: readonly { readonly blockchainId: string; readonly address: string }[],
): Promise<void> {
  await sql`
    select pg_advisory_xact_lock(hashtextextended(name, 0))
    from (select ${LOCK_NAME} as name from ${listOf(addresses)}) as given
    order by name collate "C"`.execute(db);
}

/** Like `lockAddresses`, for the addresses of transfers and those they are recorded at, where these differ. */
export async function lockTransfers(
  db: Connection,
  transfers: readonly (DepositKey & { readonly address: string })[],
): Promise<void> {
  await sql`
    select pg_advisory_xact_lock(hashtextextended(name, 0))
    from (
      select ${LOCK_NAME} as name from ${listOf(transfers)}
      union
      select ${LOCK_NAME} from ${keysOf(transfers)}
      join deposits using (blockchain_id, transaction_hash, position)) as given
    order by name collate "C"`.execute(db);
}

function listOf(addresses: readonly { readonly blockchainId: string; readonly address: string }[]) {
  return sql`
    unnest(${addresses.map(({ blockchainId }) => blockchainId)}::text[],
           ${addresses.map(({ address }) => address)}::text[]) as list (blockchain_id, address)`;
}

function keysOf(keys: readonly DepositKey[]) {
  return sql`
    unnest(${keys.map(({ blockchainId }) => blockchainId)}::text[],
           ${keys.map(({ transactionHash }) => transactionHash)}::text[],
           ${keys.map(({ position }) => position)}::integer[])
      as key (blockchain_id, transaction_hash, position)`;
}

/** The recorded deposits of these transfers. */
export async function findDeposits(
  db: Connection,
  keys: readonly DepositKey[],
): Promise<Deposit[]> {
  const { rows } = await sql<Deposit>`
    select deposits.*
    from ${keysOf(keys)} join deposits using (blockchain_id, transaction_hash, position)`.execute(
    db,
  );
  return rows;
}

/** Unmatched deposits that are looked at for a payment; more than a few are rare. */
const UNMATCHED_MAXIMUM = 100;

/**
 * Unmatched deposits at an address that may be for a payment by their amount and time, oldest first: the amount is one
 * that the payment has or had reserved there, or near it.
 * @param perMille Lowest and highest share of that amount, in per mille.
 */
export async function listUnmatchedOf(
  db: Connection,
  paymentId: string,
  { blockchainId, address }: { readonly blockchainId: string; readonly address: string },
  perMille: { readonly least: bigint; readonly most: bigint },
): Promise<Deposit[]> {
  const { rows } = await sql<Deposit>`
    select * from deposits
    where blockchain_id = ${blockchainId} and address = ${address} and ${IS_WAITING}
      and observed_at >= (select created_at from payments where id = ${paymentId})
      and exists (
        select from (
          select * from reservations where payment_id = ${paymentId} and released_at is null
          union all
          select * from reservations where payment_id = ${paymentId} and released_at is not null
        ) as own
        where own.blockchain_id = deposits.blockchain_id and own.address = deposits.address
          and (own.token_amount = deposits.token_amount
            or deposits.token_amount * 1000
              between own.token_amount * ${perMille.least}::numeric
              and own.token_amount * ${perMille.most}::numeric))
    order by observed_at, id limit ${UNMATCHED_MAXIMUM}`.execute(db);
  return rows;
}

/** The underpayment of a payment: the first deposit that is final, or else the first that is seen. */
export function findUnderpayment(db: Connection, paymentId: string): Promise<Deposit | undefined> {
  return db
    .selectFrom('deposits')
    .selectAll()
    .where('payment_id', '=', paymentId)
    .where('outcome', '=', 'under')
    .where('state', 'in', ['seen', 'final'])
    .orderBy(({ eb }) => eb('state', '=', 'final'), 'desc')
    .orderBy('observed_at')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
}

export const findDepositById = findById('deposits');

/** The deposits with these IDs, in any order; unknown IDs are left out. */
export function findDepositsById(db: Connection, ids: readonly string[]): Promise<Deposit[]> {
  return db
    .selectFrom('deposits')
    .selectAll()
    .where(({ eb, fn, val }) => eb('id', '=', fn.any(val(ids))))
    .execute();
}

export const lockDeposit = lockById('deposits');
export const insertDeposit = insertInto('deposits');

/** Inserts deposits; of known ones, updates the state and the block. */
export async function saveDeposits(
  db: Connection,
  rows: readonly Insertable<DepositsTable>[],
): Promise<Deposit[]> {
  return db
    .insertInto('deposits')
    .values(rows)
    .onConflict(conflict =>
      conflict.column('id').doUpdateSet(({ ref }) => ({
        state: ref('excluded.state'),
        block_height: ref('excluded.block_height'),
        block_hash: ref('excluded.block_hash'),
        missing_since: ref('excluded.missing_since'),
        updated_at: ref('excluded.updated_at'),
      })),
    )
    .returningAll()
    .execute();
}

export const updateDeposit = updateByIdOrThrow('deposits');

/** Literals, since a cached plan for parameters could not use the partial index on these rows. */
export const IS_WAITING = sql<boolean>`
  payment_id is null and dismissed_at is null and state in ('seen', 'final')`;

/** The inbox: deposits that are neither matched nor dismissed, oldest first. */
export function listUnmatchedDeposits(db: Connection, limit: number): Promise<Deposit[]> {
  return db
    .selectFrom('deposits')
    .selectAll()
    .where(IS_WAITING)
    .orderBy('observed_at')
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** All deposits, matched or not, newest first. */
export function listDeposits(db: Connection, limit: number): Promise<Deposit[]> {
  return db
    .selectFrom('deposits')
    .selectAll()
    .orderBy('observed_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

/** Deposits of a payment, oldest first, at most 100. */
export const listPaymentDeposits = listBy('deposits', 'payment_id', ['observed_at'], 100);

/** Deposits of a transaction, at most 100. */
export function listDepositsByHash(
  db: Connection,
  blockchainId: string,
  transactionHash: string,
): Promise<Deposit[]> {
  return db
    .selectFrom('deposits')
    .selectAll()
    .where('blockchain_id', '=', blockchainId)
    .where(({ eb, fn, val }) =>
      eb(fn('lower', ['transaction_hash']), '=', fn('lower', [val(transactionHash)])),
    )
    .limit(100)
    .execute();
}
