import { sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { Slot } from './reservations.ts';

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
  /** How much too little settles it, in basis points. */
  toleranceBps: number;
  /** Whether too little has arrived already. */
  underpaid: boolean;
}

/**
 * At most `limit` payments that waited for funds at an address at a time: those that still do, and those
 * that have ended without funds, or gone elsewhere, since then.
 * @param endedBy A payment that is still open counts unless its time ended before.
 * @param paymentId Lists no other payment than this one, if it is given.
 */
export async function listWaiting(
  db: Connection,
  { blockchainId, address }: Omit<Slot, 'tokenAmount'>,
  { at, endedBy }: { readonly at: Date; readonly endedBy: Date },
  limit: number,
  paymentId?: string,
): Promise<Waiting[]> {
  const ofPayment = paymentId === undefined ? sql`` : sql`and payment_id = ${paymentId}`;
  const { rows } = await sql<Omit<Waiting, 'tokenAmount'> & { tokenAmount: string }>`
    select "paymentId", amount as "tokenAmount", underpayment_tolerance_bps as "toleranceBps",
           exists (
             select from deposits where payment_id = "paymentId" and outcome = 'under'
               and state in ('seen', 'final')) as underpaid
    from (
      select payment_id as "paymentId", merchant_id, reservations.token_amount as amount
      from reservations join payments on payments.id = payment_id
      where reservations.blockchain_id = ${blockchainId} and reservations.address = ${address}
        and released_at is null and rest_of is null and reserved_at <= ${at}
        and session_status = 'pending' and coalesce(quoted_until, expires_at) >= ${endedBy}
        ${ofPayment}
      union all
      select payment_id, merchant_id, reservations.token_amount
      from reservations join payments on payments.id = payment_id
      where reservations.blockchain_id = ${blockchainId} and reservations.address = ${address}
        and released_at > ${at} and rest_of is null and reserved_at <= ${at}
        and status <> 'successful' ${ofPayment}
      limit ${limit}
    ) as waiting join merchants on merchants.id = waiting.merchant_id`.execute(db);
  return rows.map(row => ({ ...row, tokenAmount: BigInt(row.tokenAmount) }));
}
