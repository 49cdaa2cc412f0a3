import { sql } from 'kysely';
import type { Connection } from '../database/connection.ts';
import type { SessionStatus } from '../database/tables.ts';

/** The network, address and amount by which a transfer is matched to a payment. */
export interface Slot {
  readonly blockchainId: string;
  /** The canonical spelling. */
  readonly address: string;
  /** Integer of the asset's smallest unit. */
  readonly tokenAmount: bigint;
}

/** A deposit address of a branch. */
export interface UsedAddress {
  readonly address: string;
  /** Live reservations at the address within a range of amounts. */
  readonly reserved: number;
}

/**
 * The deposit addresses of a branch on a network (at most 20), the one longest unused first.
 * @param range Lowest and highest amount that is counted, in the asset's smallest unit.
 */
export async function listAddressesByUse(
  db: Connection,
  branchId: string,
  blockchainId: string,
  range: { readonly from: bigint; readonly to: bigint },
): Promise<UsedAddress[]> {
  const { rows } = await sql<UsedAddress>`
    select own.address, live.count as reserved
    from deposit_addresses as own
    left join lateral (
      select id from reservations
      where blockchain_id = own.blockchain_id and address = own.address
      order by id desc limit 1
    ) as latest on true
    cross join lateral (
      select count(*)::integer as count from reservations
      where blockchain_id = own.blockchain_id and address = own.address and released_at is null
        and token_amount between ${range.from.toString()}::numeric and ${range.to.toString()}::numeric
    ) as live
    where own.branch_id = ${branchId} and own.blockchain_id = ${blockchainId}
    order by latest.id nulls first, own.address`.execute(db);
  return rows;
}

/**
 * Those of the amounts that are not reserved now, least recently used first, so that a late
 * transfer is unlikely to match another customer's payment.
 */
export async function listFreeAmounts(
  db: Connection,
  blockchainId: string,
  address: string,
  amounts: readonly bigint[],
): Promise<bigint[]> {
  const { rows } = await sql<{ amount: string }>`
    select candidate.amount::text as amount
    from unnest(${amounts.map(String)}::numeric[]) with ordinality as candidate (amount, slot)
    left join lateral (
      select released_at, id from reservations
      where blockchain_id = ${blockchainId} and address = ${address}
        and token_amount = candidate.amount
      order by id desc limit 1
    ) as latest on true
    where latest.id is null or latest.released_at is not null
    order by latest.released_at nulls first, candidate.slot`.execute(db);
  return rows.map(row => BigInt(row.amount));
}

/** Reserves an amount for a payment; false if it is taken already. */
export async function insertReservation(
  db: Connection,
  paymentId: string,
  slot: Slot,
  now: Date,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('reservations')
    .values({
      payment_id: paymentId,
      blockchain_id: slot.blockchainId,
      address: slot.address,
      token_amount: slot.tokenAmount,
      reserved_at: now,
      released_at: null,
    })
    .onConflict(conflict =>
      conflict
        .columns(['blockchain_id', 'address', 'token_amount'])
        .where('released_at', 'is', null)
        .doNothing(),
    )
    .executeTakeFirstOrThrow();
  return (numInsertedOrUpdatedRows ?? 0n) > 0n;
}

/** Releases the payment's reservation, if it has one. */
export async function releaseReservation(
  db: Connection,
  paymentId: string,
  now: Date,
): Promise<void> {
  await db
    .updateTable('reservations')
    .set({ released_at: now })
    .where('payment_id', '=', paymentId)
    .where('released_at', 'is', null)
    .execute();
}

/** A payment with a live reservation, which a transfer to the address may pay. */
export interface Candidate {
  paymentId: string;
  tokenAmount: bigint;
  /** Whether funds for it have been seen already. */
  seen: boolean;
}

/** The live reservation of exactly this amount, if it was made no later than `reservedBy`. */
export async function findReservation(
  db: Connection,
  slot: Slot,
  reservedBy: Date,
): Promise<Candidate | undefined> {
  const [candidate] = await candidates(db, slot.blockchainId, slot.address, reservedBy)
    .where('reservations.token_amount', '=', slot.tokenAmount.toString())
    .execute();
  return candidate === undefined ? undefined : toCandidate(candidate);
}

/**
 * At most `limit` live reservations at an address without funds, made no later than `reservedBy`.
 */
export async function listOpenReservations(
  db: Connection,
  blockchainId: string,
  address: string,
  reservedBy: Date,
  limit: number,
): Promise<Candidate[]> {
  const rows = await candidates(db, blockchainId, address, reservedBy)
    .where('session_status', '=', 'pending')
    .orderBy('reservations.id')
    .limit(limit)
    .execute();
  return rows.map(toCandidate);
}

function candidates(db: Connection, blockchainId: string, address: string, reservedBy: Date) {
  return db
    .selectFrom('reservations')
    .innerJoin('payments', 'payments.id', 'reservations.payment_id')
    .select(['payment_id', 'reservations.token_amount', 'session_status'])
    .where('reservations.blockchain_id', '=', blockchainId)
    .where('reservations.address', '=', address)
    .where('released_at', 'is', null)
    .where('reserved_at', '<=', reservedBy);
}

function toCandidate(row: {
  payment_id: string;
  token_amount: string;
  session_status: SessionStatus;
}): Candidate {
  return {
    paymentId: row.payment_id,
    tokenAmount: BigInt(row.token_amount),
    seen: row.session_status === 'completed',
  };
}

/**
 * Whether the slot had a reservation that was released after `since`: its payment ended, or gave up
 * the amount. Reservations of a slot follow one another, so the latest one tells.
 */
export async function wasReserved(
  db: Connection,
  { blockchainId, address, tokenAmount }: Slot,
  since: Date,
): Promise<boolean> {
  const latest = await db
    .selectFrom('reservations')
    .select('released_at')
    .where('blockchain_id', '=', blockchainId)
    .where('address', '=', address)
    .where('token_amount', '=', tokenAmount.toString())
    .where('released_at', 'is not', null)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return latest?.released_at != null && latest.released_at > since;
}
