import { sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { Payment } from '../../database/payment-tables.ts';
import { hasRow } from '../rows.ts';

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
 * The deposit addresses of a branch on a network (at most 20), the one longest unused first. They stay the branch's
 * until the transaction ends: who removes one waits, and then sees that a payer was shown it.
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
    order by latest.id nulls first, own.address
    for key share of own`.execute(db);
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

/**
 * Reserves an amount for a payment; false if it is taken already.
 * @param restOf The deposit of too little that the amount completes; null for the whole amount.
 */
export async function insertReservation(
  db: Connection,
  paymentId: string,
  slot: Slot,
  now: Date,
  restOf: string | null = null,
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
      rest_of: restOf,
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

/** Releases what the payment has reserved: the whole amount, and that of a rest. */
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

/** The payment that had an amount reserved at a time. */
export interface Holder {
  paymentId: string;
  /** Whether enough funds for it have been seen already. */
  seen: boolean;
  /** Whether the amount is what was left to pay, after a deposit of too little. */
  isRest: boolean;
  /** When its payment ended or gave up the amount; null if the payment has it still, or has it again. */
  releasedAt: Date | null;
  payment: PaymentInWait;
}

/** The columns by which it is decided whether a payment waits for a transfer. */
export type PaymentInWait = Pick<
  Payment,
  'status' | 'session_status' | 'blockchain_id' | 'address' | 'expires_at' | 'quoted_until'
>;

/**
 * For each slot, the payment that had exactly this amount reserved at a time, or was the last to have it before,
 * with the payments' rows locked in the order of the slots. Reservations of a slot do not overlap, so it is that
 * of the latest one.
 * With `offset 0` PostgreSQL reads the few reservations of the amount, instead of all of the address from
 * the newest on.
 */
export async function lockHolders(
  db: Connection,
  slots: readonly (Slot & { readonly occurredAt: Date })[],
): Promise<(Holder | undefined)[]> {
  if (slots.length === 0) return [];
  const { rows } = await sql<{ place: number } & Omit<Holder, 'payment'> & Holder['payment']>`
    select slot.place, latest.payment_id as "paymentId", session_status = 'completed' as seen,
           latest.rest_of is not null as "isRest",
           case when not exists (
             select from reservations as again
             where again.payment_id = latest.payment_id and again.released_at is null
               and again.blockchain_id = latest.blockchain_id and again.address = latest.address
               and again.token_amount = latest.token_amount
           ) then latest.released_at end as "releasedAt",
           payments.status, payments.session_status, payments.blockchain_id, payments.address,
           payments.expires_at, payments.quoted_until
    from unnest(${slots.map(slot => slot.blockchainId)}::text[],
                ${slots.map(slot => slot.address)}::text[],
                ${slots.map(slot => slot.tokenAmount)}::numeric[],
                ${slots.map(slot => slot.occurredAt)}::timestamptz[])
         with ordinality as slot (blockchain_id, address, token_amount, at, place)
    cross join lateral (
      select same.* from (
        select * from reservations
        where blockchain_id = slot.blockchain_id and address = slot.address
          and token_amount = slot.token_amount and reserved_at <= slot.at
        offset 0
      ) as same order by id desc limit 1
    ) as latest join payments on payments.id = latest.payment_id
    order by slot.place
    for update of payments`.execute(db);
  const holders: (Holder | undefined)[] = slots.map(() => undefined);
  for (const { place, paymentId, seen, isRest, releasedAt, ...payment } of rows) {
    holders[place - 1] = { paymentId, seen, isRest, releasedAt, payment };
  }
  return holders;
}

/**
 * Whether an amount has been reserved since a time, by any payment. Clocks of blocks and ours differ, so that a
 * transfer may look older than the reservation of the amount that it pays.
 */
export async function isReservedSince(
  db: Connection,
  { blockchainId, address, tokenAmount }: Slot,
  at: Date,
): Promise<boolean> {
  const query = db
    .selectFrom('reservations')
    .select('id')
    .where('blockchain_id', '=', blockchainId)
    .where('address', '=', address)
    .where('token_amount', '=', tokenAmount.toString())
    .where('reserved_at', '>', at);
  return hasRow(query);
}
