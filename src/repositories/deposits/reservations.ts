import { sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { Deposit } from '../../database/deposit-tables.ts';
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

/** An amount that can be reserved. */
export interface FreeAmount {
  /** Integer of the asset's smallest unit. */
  readonly tokenAmount: bigint;
  /** Whether what wallets may send of it, cut or rounded, is not also what they may send of another one. */
  readonly isApart: boolean;
}

/**
 * Those of the amounts that are not reserved now, least recently used first, so that a late
 * transfer is unlikely to match another customer's payment. An amount that another open payment asked for before it got
 * another quote is not free while its price was promised: its customer may still send it.
 * @param group The unit that wallets cut or round to.
 * @param promisedSince Prices of reservations since then are still promised.
 */
export async function listFreeAmounts(
  db: Connection,
  { blockchainId, address }: Omit<Slot, 'tokenAmount'>,
  {
    amounts,
    group,
    paymentId,
    promisedSince,
  }: {
    readonly amounts: readonly bigint[];
    readonly group: bigint;
    readonly paymentId: string;
    readonly promisedSince: Date;
  },
): Promise<FreeAmount[]> {
  if (amounts.length === 0) return [];
  const { rows } = await sql<{ amount: string; isApart: boolean }>`
    with asked as materialized (
      select token_amount from reservations
      where blockchain_id = ${blockchainId} and address = ${address} and released_at is null
        and payment_id <> ${paymentId}
      union
      select reservations.token_amount from reservations join payments on payments.id = payment_id
      where reservations.blockchain_id = ${blockchainId} and reservations.address = ${address}
        and released_at > ${promisedSince} and reserved_at > ${promisedSince}
        and payment_id <> ${paymentId} and status = 'pending' and session_status = 'pending'
    )
    select candidate.amount::text as amount, not exists (
             select from asked
             where token_amount >= cut.down - trunc(${group.toString()}::numeric / 2)
               and token_amount < cut.rounded + ${group.toString()}::numeric) as "isApart"
    from unnest(${amounts.map(String)}::numeric[]) with ordinality as candidate (amount, slot)
    cross join lateral (
      select amount - mod(amount, ${group.toString()}::numeric) as down,
             amount + trunc(${group.toString()}::numeric / 2)
               - mod(amount + trunc(${group.toString()}::numeric / 2), ${group.toString()}::numeric) as rounded
    ) as cut
    left join lateral (
      select payment_id, reserved_at, released_at, id from reservations
      where blockchain_id = ${blockchainId} and address = ${address}
        and token_amount = candidate.amount
      order by id desc limit 1
    ) as latest on true
    where latest.id is null or latest.released_at is not null
      and (latest.payment_id = ${paymentId} or latest.reserved_at <= ${promisedSince} or not exists (
        select from payments
        where payments.id = latest.payment_id and status = 'pending' and session_status = 'pending'))
    order by latest.released_at nulls first, candidate.slot`.execute(db);
  return rows.map(({ amount, isApart }) => ({ tokenAmount: BigInt(amount), isApart }));
}

/** What settles a reserved amount besides itself, in the asset's smallest unit. */
export interface Settling {
  /** The deposit of too little that the amount completes; null for the whole amount. */
  readonly restOf?: string | null;
  /** As the columns `cut_from` and `alone_from`; null for nothing else than the amount. */
  readonly cutFrom?: bigint | null;
  readonly aloneFrom?: bigint | null;
}

/** Reserves an amount for a payment; false if it is taken already. */
export async function insertReservation(
  db: Connection,
  paymentId: string,
  slot: Slot,
  now: Date,
  { restOf = null, cutFrom = null, aloneFrom = null }: Settling = {},
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
      cut_from: cutFrom,
      alone_from: aloneFrom,
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

/** The whole amount that a payment asked for last on a network, before it got another quote. */
export async function findFormerQuote(
  db: Connection,
  paymentId: string,
  blockchainId: string,
): Promise<{ address: string; tokenAmount: bigint } | undefined> {
  const row = await db
    .selectFrom('reservations')
    .select(['address', 'token_amount'])
    .where('payment_id', '=', paymentId)
    .where('released_at', 'is not', null)
    .where('blockchain_id', '=', blockchainId)
    .where('rest_of', 'is', null)
    // The previous release asked for amounts that others may be cut to.
    .where('cut_from', 'is not', null)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row && { address: row.address, tokenAmount: BigInt(row.token_amount) };
}

/** The amount that was asked for after a deposit of too little, before the payment got another quote. */
export async function findFormerRest(
  db: Connection,
  paymentId: string,
  depositId: string,
): Promise<bigint | undefined> {
  const row = await db
    .selectFrom('reservations')
    .select('token_amount')
    .where('payment_id', '=', paymentId)
    .where('released_at', 'is not', null)
    .where('rest_of', '=', depositId)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row && BigInt(row.token_amount);
}

/** What a payment asked for where a deposit arrived. */
export interface AskedBefore {
  /** The whole amount, an integer of the asset's smallest unit. */
  readonly tokenAmount: string;
  /** The least that settles it where a wallet has cut it short; null where only the whole does. */
  readonly cutFrom: string | null;
  /** Of the asset. */
  readonly decimals: number;
  readonly reservedAt: Date;
  /** Until when the price was promised. */
  readonly promisedUntil: Date;
  /** IDs of the whole amount's reservation, and of the rest's that the deposit pays. */
  readonly reservations: readonly string[];
}

/**
 * What a payment asked for last at a deposit's address, among that the amount of the deposit where it is exactly one of
 * them: the whole, or the rest with its whole.
 */
export async function findAskedBefore(
  db: Connection,
  paymentId: string,
  {
    blockchain_id: blockchainId,
    address,
    token_amount: amount,
    outcome,
  }: Pick<Deposit, 'blockchain_id' | 'address' | 'token_amount' | 'outcome'>,
): Promise<AskedBefore | undefined> {
  const { rows } = await sql<AskedBefore>`
    with own as (
      select * from reservations
      where payment_id = ${paymentId} and released_at is null
        and blockchain_id = ${blockchainId} and address = ${address}
      union all
      select * from reservations
      where payment_id = ${paymentId} and released_at is not null
        and blockchain_id = ${blockchainId} and address = ${address}
    ), rest as (
      select id from own
      where ${outcome} = 'rest' and rest_of is not null and token_amount = ${amount}::numeric
      order by id desc limit 1
    )
    select own.token_amount as "tokenAmount", own.cut_from as "cutFrom",
           networks.asset_decimals as decimals,
           own.reserved_at as "reservedAt", ${PROMISED_UNTIL('own')} as "promisedUntil",
           array_remove(array[own.id, rest.id], null)::bigint[]::text[] as reservations
    from own join networks on networks.id = own.blockchain_id
    left join rest on true
    where own.rest_of is null and (rest.id is null or own.id < rest.id)
      and (${outcome} <> 'exact' or own.token_amount = ${amount}::numeric)
    order by own.id desc limit 1`.execute(db);
  return rows[0];
}

/** Where else a payment asked for something before, by networks and addresses; at most 100 places. */
export async function listPlacesElsewhere(
  db: Connection,
  paymentId: string,
  { blockchainId, address }: Omit<Slot, 'tokenAmount'>,
): Promise<Omit<Slot, 'tokenAmount'>[]> {
  const { rows } = await sql<Omit<Slot, 'tokenAmount'>>`
    select distinct blockchain_id as "blockchainId", address from reservations
    where payment_id = ${paymentId} and released_at is not null
      and (blockchain_id, address) <> (${blockchainId}, ${address})
    order by 1, 2 limit 100`.execute(db);
  return rows;
}

/**
 * Reserves again what was released, at the time and so at the price of then; what another payment has reserved
 * meanwhile stays that one's.
 */
export async function reserveAgain(db: Connection, ids: readonly string[]): Promise<void> {
  await sql`
    insert into reservations (payment_id, blockchain_id, address, token_amount, reserved_at, rest_of,
                              cut_from, alone_from)
    select payment_id, blockchain_id, address, token_amount, reserved_at, rest_of, cut_from, alone_from
    from reservations where id = any(${ids}::bigint[]) order by id
    on conflict (blockchain_id, address, token_amount) where released_at is null do nothing`.execute(
    db,
  );
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
  /** Until when the price of the amount was promised, unless its payment asks for it still. */
  promisedUntil: Date;
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
           ${PROMISED_UNTIL('latest')} as "promisedUntil",
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
    join networks on networks.id = latest.blockchain_id
    order by slot.place
    for update of payments`.execute(db);
  const holders: (Holder | undefined)[] = slots.map(() => undefined);
  for (const { place, paymentId, seen, isRest, releasedAt, promisedUntil, ...payment } of rows) {
    holders[place - 1] = { paymentId, seen, isRest, releasedAt, promisedUntil, payment };
  }
  return holders;
}

/** Until when the price of a reservation was promised, beside rows of it and of its network, `networks`. */
export const PROMISED_UNTIL = (reservation: string) =>
  sql<Date>`${sql.ref(reservation)}.reserved_at + networks.window_minutes * interval '1 minute'`;

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
