import { type RawBuilder, sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { Deposit } from '../../database/deposit-tables.ts';
import { derivationIndexOf } from '../accounts/wallet-addresses.ts';

/** An open payment that a deposit could be assigned to. */
interface FittingPayment {
  paymentId: string;
  merchantId: string;
  /** What it waits for: an integer of the asset's smallest unit, as text. */
  tokenAmount: string;
}

/** What an operator needs to know about a deposit, besides its own row. */
export interface DepositContext {
  networkName: string;
  /** URL of a transaction's page on the network, with `{hash}` in it; null without a block explorer. */
  explorer: string | null;
  assetSymbol: string;
  assetDecimals: number;
  /** Of its address in a wallet; null for a static address. */
  derivationIndex: number | null;
  /**
   * The merchant of its payment. Without a payment, those that had its address when it arrived, or one that had a
   * payment there.
   */
  merchantIds: string[];
  /**
   * The open payment that it is for by a former quote, then those at its address, the closest amount first; none once it
   * is matched or dismissed.
   */
  fits: FittingPayment[];
}

/** Maximum number of payments offered for a deposit. */
const FITS_MAXIMUM = 5;

/** The contexts of deposits, by their IDs. */
export async function findDepositContexts(
  db: Connection,
  deposits: readonly Pick<Deposit, 'id'>[],
): Promise<Map<string, DepositContext>> {
  return findContexts(
    db,
    sql`
      select deposits.id, deposits.blockchain_id, deposits.address, deposits.token_amount,
             deposits.observed_at as at, payments.merchant_id as payee,
             deposits.payment_id is null and dismissed_at is null
               and deposits.state in ('seen', 'final') as waits
      from deposits left join payments on payments.id = deposits.payment_id
      where deposits.id = any(${deposits.map(({ id }) => id)}::uuid[])`,
  );
}

/** An amount that arrived at an address by an unknown transaction. */
export interface Inflow {
  /** ID of the finding. */
  readonly id: string;
  readonly blockchainId: string;
  readonly address: string;
  /** Integer of the asset's smallest unit. */
  readonly tokenAmount: bigint;
}

/** The context that a deposit of this amount would have if it arrived at this address now. */
export async function findInflowContext(
  db: Connection,
  { id, blockchainId, address, tokenAmount }: Inflow,
  now: Date,
): Promise<DepositContext | undefined> {
  const contexts = await findContexts(
    db,
    sql`
      select ${id}::uuid as id, ${blockchainId}::text as blockchain_id, ${address}::text as address,
             ${tokenAmount.toString()}::numeric as token_amount, ${now}::timestamptz as at, null::uuid as payee, true as waits`,
  );
  return contexts.get(id);
}

/** @param listed Query of ID, network, address, amount, time, payee, and whether open payments are looked for. */
async function findContexts(
  db: Connection,
  listed: RawBuilder<unknown>,
): Promise<Map<string, DepositContext>> {
  const { rows } = await sql<DepositContext & { id: string }>`
    with listed as materialized (${listed}), owners as (
      select listed.id, array_agg(merchant_id::text order by merchant_id) as "merchantIds"
      from listed join account_addresses using (blockchain_id, address)
      where payee is null and since <= at and at < until group by 1
    )
    select listed.id, networks.name as "networkName", explorer, asset_symbol as "assetSymbol", asset_decimals as "assetDecimals",
           ${derivationIndexOf('listed')} as "derivationIndex",
           coalesce(case when payee is not null then array[payee::text] end,
                    owners."merchantIds", former."merchantIds", '{}') as "merchantIds",
           coalesce(open.fits, '[]') as fits
    from listed join networks on networks.id = listed.blockchain_id
    left join owners on owners.id = listed.id
    left join lateral (
      select array[merchant_id::text] as "merchantIds"
      from reservations join payments on payments.id = payment_id
      where payee is null and owners.id is null
        and reservations.blockchain_id = listed.blockchain_id
        and reservations.address = listed.address limit 1
    ) as former on true
    left join lateral (
      select json_agg(json_build_object('paymentId', id, 'merchantId', merchant_id, 'tokenAmount', amount)
                      order by distance, id) as fits
      from (
        select payments.id, payments.merchant_id, asked.token_amount::text as amount, -1 as distance
        from deviating_deposits join payments on payments.id = payment_id
        cross join lateral (
          select token_amount from reservations
          where reservations.payment_id = payments.id
            and reservations.blockchain_id = listed.blockchain_id
            and reservations.address = listed.address
          order by token_amount = listed.token_amount desc, reservations.id desc limit 1
        ) as asked
        where listed.waits and deposit_id = listed.id and kind = 'superseded'
          and payments.status = 'pending' and payments.session_status = 'pending'
        union all
        select payments.id, merchant_id, reservations.token_amount::text as amount,
               abs(reservations.token_amount - listed.token_amount) as distance
        from reservations join payments on payments.id = payment_id
        where listed.waits and released_at is null
          and reservations.blockchain_id = listed.blockchain_id
          and reservations.address = listed.address
          and payments.status = 'pending' and payments.session_status = 'pending'
          and not exists (
            select from deviating_deposits
            where deposit_id = listed.id and kind = 'superseded' and payment_id = payments.id)
        order by distance, id limit ${FITS_MAXIMUM}
      ) as closest
    ) as open on true`.execute(db);
  return new Map(rows.map(({ id, ...context }) => [id, context]));
}
