import { sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { Slot } from './reservations.ts';

/** A deposit address of a branch. */
export interface UsedAddress {
  readonly address: string;
  /** Live reservations at the address within a range of amounts. */
  readonly reserved: number;
}

interface ConfiguredAddress extends UsedAddress {
  /** The wallet of which it is the first address; null for a static one. */
  readonly walletId: string | null;
}

/**
 * The deposit addresses of a branch on a network (at most 20), the one longest unused first. Locks them until the
 * transaction ends: whoever removes one waits, and then sees that a payer was shown it.
 * @param range Lowest and highest amount that is counted, in the asset's smallest unit.
 */
export async function listAddressesByUse(
  db: Connection,
  branchId: string,
  blockchainId: string,
  range: { readonly from: bigint; readonly to: bigint },
): Promise<ConfiguredAddress[]> {
  const { rows } = await sql<ConfiguredAddress>`
    select own.address, own.wallet_id as "walletId", live.count as reserved
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
  /** Whether what wallets may send for it, cut or rounded, differs from what they may send for any other amount. */
  readonly isApart: boolean;
}

/**
 * Those of the amounts that are not reserved now, least recently used first, so that a late transfer is unlikely to
 * match another customer's payment. While its price is promised, a former amount of an open payment that got another
 * quote is not free either: its customer may still send it.
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
