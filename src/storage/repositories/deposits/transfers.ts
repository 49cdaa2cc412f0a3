import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { Deposit, StrayKind } from '../../database/deposit-tables.ts';
import { IS_IN_PERIOD, IS_OWN } from './account-deposits.ts';
import { isOwnAddress } from './parts.ts';

/** A transfer that belongs to a payment, did before, or was meant for it by its exact amount or address. */
export type Transfer = Deposit & {
  network_name: string;
  /** URL of a transaction's page on the network, with `{hash}` in it; null without a block explorer. */
  explorer: string | null;
  asset_symbol: string;
  asset_decimals: number;
  /** Why it did not settle the payment, or `left` if it belonged to the payment before; null if it belongs to it. */
  stray_kind: StrayKind | 'left' | null;
  /** The reserved rest that completes it, an integer of the asset's smallest unit; null for none. */
  rest_due: string | null;
  /** Whether it is a part at the payment's own address, where whatever arrives adds up. */
  adds_up: boolean;
  /** Hash of the transaction that returned it as a partial deposit of the payment; null if it was not returned. */
  return_hash: string | null;
};

/** A transfer with what only the merchant may know of it. */
export type MerchantTransfer = Transfer & {
  /** Merchant of the payment that it belongs to; null for none. */
  taker_id: string | null;
  /** Whether only the payment's merchant had the address in that period: the deposit is in its inbox while it waits. */
  is_own: boolean;
  /** When it was returned as a partial deposit of the payment; null if it was not, like `returned_to`. */
  returned_at: Date | null;
  returned_to: string | null;
  /** Also null without a note. */
  return_note: string | null;
};

/** The newest transfers of a payment, oldest first, and how many there are in all. */
export interface Transfers<T extends Transfer = Transfer> {
  readonly newest: readonly T[];
  readonly total: number;
}

export const NO_TRANSFERS: Transfers = { newest: [], total: 0 };

/** More for one payment are not expected. */
const NEWEST_MAXIMUM = 100;

/** Whether a row of `payments` may have transfers. */
export const HAS_TRANSFERS = sql<boolean>`(
  exists (select from deposits where payment_id = payments.id)
  or exists (select from deviating_deposits where deviating_deposits.payment_id = payments.id))`;

/**
 * Transfers that a payer may see: those of the payment, those that were its own before, and those that were
 * meant for it and that no payment took. A transfer that names another payment, or was assigned to one, is somebody else's.
 */
export function listTransfers(db: Connection, paymentId: string): Promise<Transfers> {
  const isPayers = sql<SqlBool>`deposits.payment_id is null and deposits.outcome <> 'ambiguous'`;
  return list(db, paymentId, isPayers);
}

/** All transfers that the payment's merchant may know of. */
export function listMerchantTransfers(
  db: Connection,
  paymentId: string,
): Promise<Transfers<MerchantTransfer>> {
  return list(
    db,
    paymentId,
    sql<SqlBool>`deposits.payment_id is distinct from ${paymentId}`,
    sql`, taker.merchant_id as taker_id, returned.booked_at as returned_at,
      returned.returned_to, returned.note as return_note,
      exists (
        select from account_addresses as own
        where own.blockchain_id = deposits.blockchain_id and own.address = deposits.address
          and own.merchant_id = link.merchant_id and ${IS_IN_PERIOD} and ${IS_OWN}) as is_own`,
    sql`left join payments as taker on taker.id = deposits.payment_id`,
  );
}

/**
 * @param isShown Which transfers are listed of those that do not belong to the payment.
 * @param columns Begins with a comma.
 */
async function list<T extends Transfer>(
  db: Connection,
  paymentId: string,
  isShown: RawBuilder<SqlBool>,
  columns = sql``,
  joins = sql``,
): Promise<Transfers<T>> {
  const { rows } = await sql<T & { total: number }>`
    select deposits.*, networks.name as network_name, explorer, asset_symbol,
      asset_decimals, link.kind as stray_kind,
      returned.transaction_hash as return_hash, count(*) over ()::integer as total,
      (
        select reservations.token_amount from reservations
        where reservations.payment_id = ${paymentId} and released_at is null
          and rest_of = deposits.id) as rest_due,
      outcome = 'under' and ${isOwnAddress('deposits', paymentId)} as adds_up ${columns}
    from (
      select id as deposit_id, null as kind, null::uuid as merchant_id
      from deposits where payment_id = ${paymentId}
      union all
      select deposit_id, min(kind), merchant_id from deviating_deposits
      where payment_id = ${paymentId} and kind in ('late', 'duplicate', 'superseded', 'left')
      group by deposit_id, merchant_id
    ) as link
    join deposits on deposits.id = deposit_id
    join networks on networks.id = deposits.blockchain_id
    left join booked_returns as returned on returned.deposit_id = deposits.id ${joins}
    where link.kind is null or ${isShown}
    order by observed_at desc, deposits.id desc limit ${NEWEST_MAXIMUM}`.execute(db);
  return { newest: rows.toReversed(), total: rows[0]?.total ?? 0 };
}
