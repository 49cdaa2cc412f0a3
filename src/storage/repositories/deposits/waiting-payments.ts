import { type RawBuilder, sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import { PROMISED_UNTIL, type Slot } from './reservations.ts';

/** At most `limit` payments that had an amount reserved at an address at a time, and did not give it up before. */
export async function listHolders(
  db: Connection,
  { blockchainId, address }: Omit<Slot, 'tokenAmount'>,
  at: Date,
  limit: number,
): Promise<string[]> {
  const { rows } = await sql<{ paymentId: string }>`
    select payment_id as "paymentId" from reservations
    where blockchain_id = ${blockchainId} and address = ${address}
      and released_at is null and reserved_at <= ${at}
    union
    select payment_id from reservations
    where blockchain_id = ${blockchainId} and address = ${address}
      and released_at > ${at} and reserved_at <= ${at}
    limit ${limit}`.execute(db);
  return rows.map(({ paymentId }) => paymentId);
}

/** A payment that waited for funds, which a transfer of another amount may be meant for. */
export interface Waiting {
  paymentId: string;
  /** The whole amount that it asks for, an integer of the asset's smallest unit. */
  tokenAmount: bigint;
  /** Smallest amount that settles it if no other payment waits; null if only the whole amount does. */
  aloneFrom: bigint | null;
  /** The rest that completes it after an underpayment; null for none. */
  rest: Pick<Waiting, 'tokenAmount' | 'aloneFrom'> | null;
  /** Largest shortfall that still settles it, in basis points. */
  toleranceBps: number;
  /** Whether an underpayment has arrived already. */
  underpaid: boolean;
}

/** When payments waited. */
export interface WaitedAt {
  readonly at: Date;
  /** A payment that is still open counts unless its time ended before. */
  readonly endedBy: Date;
}

/** `listWaiting`'s payments with what they ask for, the whole and the rest. */
const waiting = (
  { blockchainId, address }: Omit<Slot, 'tokenAmount'>,
  { at, endedBy }: WaitedAt,
  condition: RawBuilder<unknown>,
) => sql`
  select payment_id, merchant_id, reservations.token_amount, cut_from, alone_from, rest_of
  from reservations join payments on payments.id = payment_id
  where reservations.blockchain_id = ${blockchainId} and reservations.address = ${address}
    and released_at is null and reserved_at <= ${at}
    and session_status = 'pending' and coalesce(quoted_until, expires_at) >= ${endedBy}
    ${condition}
  union all
  select payment_id, merchant_id, reservations.token_amount, cut_from, alone_from, rest_of
  from reservations join payments on payments.id = payment_id
  where reservations.blockchain_id = ${blockchainId} and reservations.address = ${address}
    and released_at > ${at} and reserved_at <= ${at}
    and status <> 'successful' ${condition}`;

const ofPayment = (paymentId: string | undefined) =>
  paymentId === undefined ? sql`` : sql`and payment_id = ${paymentId}`;

/**
 * At most `limit` payments that waited for funds at an address at a time: those that still do, and those
 * that have ended without funds, or gone elsewhere, since then.
 * @param paymentId Lists no other payment than this one, if it is given.
 */
export async function listWaiting(
  db: Connection,
  place: Omit<Slot, 'tokenAmount'>,
  when: WaitedAt,
  limit: number,
  paymentId?: string,
): Promise<Waiting[]> {
  const { rows } = await sql<{
    paymentId: string;
    tokenAmount: string;
    aloneFrom: string | null;
    restAmount: string | null;
    restFrom: string | null;
    toleranceBps: number;
    underpaid: boolean;
  }>`
    select waiting.payment_id as "paymentId", waiting.token_amount as "tokenAmount",
           waiting.alone_from as "aloneFrom", rest.token_amount as "restAmount",
           rest.alone_from as "restFrom", underpayment_tolerance_bps as "toleranceBps",
           exists (
             select from deposits where payment_id = waiting.payment_id and outcome = 'under'
               and state in ('seen', 'final')) as underpaid
    from (
      ${waiting(place, when, sql`and rest_of is null ${ofPayment(paymentId)}`)}
      limit ${limit}
    ) as waiting join merchants on merchants.id = waiting.merchant_id
    left join reservations as rest
      on rest.payment_id = waiting.payment_id and rest.released_at is null and rest.rest_of is not null
        and rest.blockchain_id = ${place.blockchainId} and rest.address = ${place.address}
        and rest.reserved_at <= ${when.at}`.execute(db);
  return rows.map(
    ({ tokenAmount, aloneFrom, restAmount, restFrom, paymentId: id, toleranceBps, underpaid }) => ({
      paymentId: id,
      tokenAmount: BigInt(tokenAmount),
      aloneFrom: bigintOrNull(aloneFrom),
      rest:
        restAmount === null
          ? null
          : { tokenAmount: BigInt(restAmount), aloneFrom: bigintOrNull(restFrom) },
      toleranceBps,
      underpaid,
    }),
  );
}

/** An amount that was asked for, which a wallet may have cut to the amount of a transfer. */
export interface CutAmount {
  /** Whether its payment has got another quote, and the price was promised when the transfer was made. */
  readonly isFormer: boolean;
  readonly paymentId: string;
  readonly tokenAmount: bigint;
  /** Smallest amount that settles it if a wallet has cut off decimals; null if only the whole amount does. */
  readonly cutFrom: bigint | null;
  readonly isRest: boolean;
}

/** The longest window of any network: older prices are not promised any more. */
const LONGEST_WINDOW = sql`interval '1 day'`;

/**
 * Amounts of at least `from` and less than `to` that payments waited for at an address, as in `listWaiting`, or that
 * open payments asked for before another quote, at a price still promised. One amount each of at most two payments:
 * preferably one that the transfer settles, then the whole amount rather than the rest.
 */
export async function listCut(
  db: Connection,
  slot: Slot,
  when: WaitedAt,
  { from, to }: { readonly from: bigint; readonly to: bigint },
  paymentId?: string,
): Promise<CutAmount[]> {
  const within = sql`
    and reservations.token_amount >= ${from.toString()}::numeric
    and reservations.token_amount < ${to.toString()}::numeric ${ofPayment(paymentId)}`;
  const { blockchainId, address, tokenAmount } = slot;
  const { rows } = await sql<{
    paymentId: string;
    tokenAmount: string;
    cutFrom: string | null;
    isRest: boolean;
    isFormer: boolean;
  }>`
    select distinct on (payment_id) payment_id as "paymentId", token_amount as "tokenAmount",
           cut_from as "cutFrom", rest_of is not null as "isRest", "isFormer"
    from (
      select *, false as "isFormer" from (${waiting(slot, when, within)}) as waiting
      union all
      select payment_id, merchant_id, reservations.token_amount, cut_from, alone_from, rest_of, true
      from reservations join payments on payments.id = payment_id
           join networks on networks.id = reservations.blockchain_id
      where reservations.blockchain_id = ${blockchainId} and reservations.address = ${address}
        and reserved_at <= ${when.at} and released_at > ${when.endedBy}::timestamptz - ${LONGEST_WINDOW}
        and status = 'pending' and session_status = 'pending' and expires_at >= ${when.endedBy}
        and ${PROMISED_UNTIL('reservations')} >= ${when.endedBy} ${within}
    ) as asked
    order by payment_id, cut_from <= ${tokenAmount.toString()}::numeric desc nulls last, "isRest", "isFormer" desc
    limit 2`.execute(db);
  return rows.map(({ tokenAmount, cutFrom, ...row }) => ({
    ...row,
    tokenAmount: BigInt(tokenAmount),
    cutFrom: bigintOrNull(cutFrom),
  }));
}

const bigintOrNull = (text: string | null) => (text === null ? null : BigInt(text));
