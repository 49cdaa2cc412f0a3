import { sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { Payment } from '../../database/payment-tables.ts';

/** The network, address and amount by which a transfer is matched to a payment. */
export interface Slot {
  readonly blockchainId: string;
  /** The canonical spelling. */
  readonly address: string;
  /** Integer of the asset's smallest unit. */
  readonly tokenAmount: bigint;
}

/** What a reserved amount completes, and which smaller amounts settle it too, in the asset's smallest unit. */
interface Settling {
  /** The underpayment that the amount completes; null for the whole amount. */
  readonly restOf?: string | null;
  /** As the columns `cut_from` and `alone_from`; null if nothing but the amount itself settles it. */
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
  reservationId: string;
  paymentId: string;
  /** Whether enough funds for it have been seen already. */
  seen: boolean;
  /** Whether the amount is the rest that was left to pay after an underpayment. */
  isRest: boolean;
  /** When its payment ended or gave up the amount; null if the payment still has it, or has it again. */
  releasedAt: Date | null;
  /** Until when the price of the amount was promised, unless its payment still asks for it. */
  promisedUntil: Date;
  payment: PaymentInWait;
}

/** The columns by which it is decided whether a payment waits for a transfer. */
export type PaymentInWait = Pick<
  Payment,
  | 'status'
  | 'session_status'
  | 'blockchain_id'
  | 'address'
  | 'token_amount'
  | 'expires_at'
  | 'quoted_until'
>;

/**
 * For each slot, the payment that had exactly this amount reserved at a time, or was the last to have it before,
 * with the payments' rows locked in the order of the slots. Reservations of a slot do not overlap, so the latest
 * one decides.
 * With `offset 0` PostgreSQL reads the few reservations of the amount, instead of all of the address from
 * the newest on.
 */
export async function lockHolders(
  db: Connection,
  slots: readonly (Slot & { readonly occurredAt: Date })[],
): Promise<(Holder | undefined)[]> {
  if (slots.length === 0) return [];
  const { rows } = await sql<{ place: number } & Omit<Holder, 'payment'> & Holder['payment']>`
    select slot.place, latest.id::text as "reservationId", latest.payment_id as "paymentId",
           session_status = 'completed' as seen,
           latest.rest_of is not null as "isRest",
           case when not exists (
             select from reservations as again
             where again.payment_id = latest.payment_id and again.released_at is null
               and again.blockchain_id = latest.blockchain_id and again.address = latest.address
               and again.token_amount = latest.token_amount
           ) then latest.released_at end as "releasedAt",
           ${PROMISED_UNTIL('latest')} as "promisedUntil",
           payments.status, payments.session_status, payments.blockchain_id, payments.address,
           payments.token_amount, payments.expires_at, payments.quoted_until
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
  for (const row of rows) {
    const { place, reservationId, paymentId, seen, isRest, releasedAt, promisedUntil, ...payment } =
      row;
    const reservation = { reservationId, paymentId, seen, isRest, releasedAt, promisedUntil };
    holders[place - 1] = { ...reservation, payment };
  }
  return holders;
}

/** Until when the price of a reservation was promised; the query must join the reservation's `networks` row. */
export const PROMISED_UNTIL = (reservation: string) =>
  sql<Date>`${sql.ref(reservation)}.reserved_at + networks.window_minutes * interval '1 minute'`;

/** The reservations of an amount, at the time of the query. */
export interface ReservationsOfSlot {
  /** The one that `lockHolders` finds. */
  latestId: string | null;
  /** The payment that has the amount reserved now. */
  heldBy: string | null;
  /**
   * Whether any payment has reserved it since the time. Clocks of blocks and ours differ, so a transfer may look older
   * than the reservation of the amount that it pays.
   */
  isReservedSince: boolean;
}

export async function findReservations(
  db: Connection,
  { blockchainId, address, tokenAmount }: Slot,
  at: Date,
): Promise<ReservationsOfSlot> {
  const { rows } = await sql<ReservationsOfSlot>`
    select (max(id) filter (where reserved_at <= ${at}))::text as "latestId",
           max(payment_id::text) filter (where released_at is null) as "heldBy",
           coalesce(bool_or(reserved_at > ${at}), false) as "isReservedSince"
    from reservations
    where blockchain_id = ${blockchainId} and address = ${address}
      and token_amount = ${tokenAmount.toString()}::numeric`.execute(db);
  return rows[0] ?? { latestId: null, heldBy: null, isReservedSince: false };
}
