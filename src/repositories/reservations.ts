import { sql } from 'kysely';
import type { Connection } from '../database/connection.ts';

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

/** A payment that had an amount reserved, which a transfer to the address may pay. */
export interface Candidate {
  paymentId: string;
  tokenAmount: bigint;
  /** Whether funds for it have been seen already. */
  seen: boolean;
}

/** Who had an amount reserved at some time. */
export interface Holder extends Candidate {
  /** When its payment ended or gave up the amount; null if the payment has it still, or has it again. */
  releasedAt: Date | null;
}

/**
 * Who had exactly this amount at a time, or was the last to have had it. Reservations of a slot follow one
 * another, so the latest one tells.
 */
export async function findHolder(
  db: Connection,
  { blockchainId, address, tokenAmount }: Slot,
  at: Date,
): Promise<Holder | undefined> {
  const { rows } = await sql<CandidateRow & { releasedAt: Date | null }>`
    select latest.payment_id as "paymentId", latest.token_amount as "tokenAmount",
           session_status = 'completed' as seen,
           case when not exists (
             select from reservations as again
             where again.payment_id = latest.payment_id and again.released_at is null
               and again.blockchain_id = latest.blockchain_id and again.address = latest.address
               and again.token_amount = latest.token_amount
           ) then latest.released_at end as "releasedAt"
    from (
      select * from reservations
      where blockchain_id = ${blockchainId} and address = ${address}
        and token_amount = ${tokenAmount.toString()}::numeric and reserved_at <= ${at}
      order by id desc limit 1
    ) as latest join payments on payments.id = latest.payment_id`.execute(db);
  const [row] = rows;
  return row === undefined ? undefined : { ...toCandidate(row), releasedAt: row.releasedAt };
}

/**
 * At most `limit` payments that waited for funds at an address at a time: those that still do, and those
 * that have ended without funds, or gone elsewhere, since then.
 * @param overdueBy How long after its end a payment that is still open counts, in milliseconds.
 */
export async function listWaiting(
  db: Connection,
  { blockchainId, address }: Omit<Slot, 'tokenAmount'>,
  { at, overdueBy }: { readonly at: Date; readonly overdueBy: number },
  limit: number,
): Promise<Candidate[]> {
  const end = new Date(at.getTime() - overdueBy);
  const { rows } = await sql<CandidateRow>`
    select payment_id as "paymentId", reservations.token_amount as "tokenAmount", false as seen
    from reservations join payments on payments.id = payment_id
    where reservations.blockchain_id = ${blockchainId} and reservations.address = ${address}
      and released_at is null and reserved_at <= ${at}
      and session_status = 'pending' and coalesce(quoted_until, expires_at) >= ${end}
    union all
    select payment_id, reservations.token_amount, false
    from reservations join payments on payments.id = payment_id
    where reservations.blockchain_id = ${blockchainId} and reservations.address = ${address}
      and released_at > ${at} and reserved_at <= ${at} and status <> 'successful'
    limit ${limit}`.execute(db);
  return rows.map(toCandidate);
}

interface CandidateRow extends Omit<Candidate, 'tokenAmount'> {
  tokenAmount: string;
}

function toCandidate({ paymentId, tokenAmount, seen }: CandidateRow): Candidate {
  return { paymentId, tokenAmount: BigInt(tokenAmount), seen };
}

/** The live reservation of what is left to pay. */
export interface Rest {
  readonly tokenAmount: bigint;
  /** Of the deposit that was too little. */
  readonly received: bigint;
  readonly transactionHash: string;
}

/** What a payment still waits for after a deposit of too little. */
export async function findRest(db: Connection, paymentId: string): Promise<Rest | undefined> {
  const row = await db
    .selectFrom('reservations')
    .innerJoin('deposits', 'deposits.id', 'reservations.rest_of')
    .select(['reservations.token_amount', 'deposits.token_amount as received', 'transaction_hash'])
    .where('reservations.payment_id', '=', paymentId)
    .where('released_at', 'is', null)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  return {
    tokenAmount: BigInt(row.token_amount),
    received: BigInt(row.received),
    transactionHash: row.transaction_hash,
  };
}
