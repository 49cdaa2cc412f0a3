import { sql } from 'kysely';
import type { CommissionPayer, SettlementModel } from '../../database/account-tables.ts';
import type { Connection } from '../../database/connection.ts';
import type { Remedy } from '../../database/deposit-tables.ts';
import { derivationIndexOf } from '../accounts/wallet-addresses.ts';

interface Booked {
  /** When a payment was paid, or a deposit or its return booked. */
  readonly at: Date;
  /** ID of the payment or the deposit. */
  readonly id: string;
  /** null on US accounts, like all columns about what arrived on chain. */
  readonly blockchainId: string | null;
  readonly assetSymbol: string | null;
  readonly assetDecimals: number | null;
  /** What arrived, in the asset's smallest unit. */
  readonly received: string | null;
  /** US dollars for one whole unit soon after it arrived, scaled by 1e18; null while it is not known. */
  readonly usdPrice: string | null;
  /** When that was the price. */
  readonly pricedAt: Date | null;
  readonly transactionHash: string | null;
  /** Index of the address in the merchant's wallet; null for a static address. */
  readonly derivationIndex: number | null;
  /** Reference of the payment, or of the payment that a deposit was a part of. */
  readonly customerReferenceId: string | null;
}

/** A payment that was paid; amounts in cents. */
export interface PaidPayment extends Booked {
  readonly kind: 'payment';
  readonly amount: number;
  readonly commissionAmount: number | null;
  readonly commissionBps: number;
  readonly commissionPayer: CommissionPayer;
  readonly settlementModel: SettlementModel | null;
  /** What was asked for on chain, in the asset's smallest unit. */
  readonly tokenAmount: string | null;
  readonly processor: string | null;
}

/** A final deposit that settled no payment: one that was dismissed, or a part of a payment that ended without it. */
export interface BookedDeposit extends Booked {
  readonly kind: 'deposit';
  /** What it was worth at `usdPrice`, in cents. */
  readonly valueCents: number | null;
  /** null for a part of a payment, and for one that an earlier release dismissed. */
  readonly remedy: Remedy | null;
  readonly remedyHash: string | null;
}

/** The return of a part. It is a movement of its own, since the month of the part may be closed already. */
export interface ReturnedPart extends Booked {
  readonly kind: 'return';
  readonly valueCents: number | null;
}

export type Movement = PaidPayment | BookedDeposit | ReturnedPart;

/** A page begins after this movement. A part and its return have the same ID, but times of their own. */
export type MovementCursor = Pick<Movement, 'at' | 'id'>;

interface Page {
  readonly from: Date;
  /** Exclusive. */
  readonly until: Date;
  readonly after: MovementCursor | undefined;
  readonly limit: number;
}

/**
 * A merchant's paid payments, booked deposits and returned parts of a period, by time and ID. `booked_deposits` fixes
 * in whose books a deposit is and since when; `booked_returns` does so for a return.
 */
export async function listMovements(
  db: Connection,
  merchantId: string,
  { from, until, after, limit }: Page,
): Promise<Movement[]> {
  const within = (at: string, id: string) => sql`
    ${sql.ref(at)} >= ${after?.at ?? from} and ${sql.ref(at)} < ${until}
    ${after === undefined ? sql`` : sql`and (${sql.ref(at)}, ${sql.ref(id)}) > (${after.at}, ${after.id}::uuid)`}`;
  const { rows } = await sql<Movement>`
    select * from (
      select paid_at as at, paid.id, 'payment' as kind, paid.blockchain_id as "blockchainId",
             asset_symbol as "assetSymbol", coalesce(token_decimals, asset_decimals) as "assetDecimals",
             arrived.received::text, arrived.price::text as "usdPrice", arrived.priced_at as "pricedAt",
             transaction_hash as "transactionHash", amount, commission_amount as "commissionAmount",
             commission_bps as "commissionBps", commission_payer as "commissionPayer",
             settlement_model as "settlementModel", paid.token_amount::text as "tokenAmount", processor,
             customer_reference_id as "customerReferenceId", null::bigint as "valueCents",
             null as remedy, null as "remedyHash", ${derivationIndexOf('paid')} as "derivationIndex"
      from (
        select * from payments
        where merchant_id = ${merchantId} and status = 'successful' and ${within('paid_at', 'id')}
        order by paid_at, id limit ${limit}
      ) as paid
      left join networks on networks.id = paid.blockchain_id
      -- The price is that of the transfer that completed the payment, which need not be the latest.
      cross join lateral (
        select sum(token_amount) as received,
               (array_agg(usd_price order by completing desc, observed_at desc, id desc))[1] as price,
               (array_agg(priced_at order by completing desc, observed_at desc, id desc))[1] as priced_at
        from (
          select *, transaction_hash is not distinct from paid.transaction_hash as completing from deposits
          where payment_id = paid.id and blockchain_id = paid.blockchain_id and state = 'final'
        ) as part
      ) as arrived
      union all
      select booked_at, deposits.id, booked.kind, deposits.blockchain_id, asset_symbol, asset_decimals,
             deposits.token_amount::text, usd_price::text, priced_at,
             coalesce(returned_by, deposits.transaction_hash), null, null,
             null, null, null, null, null, payments.customer_reference_id, value_cents, remedy, remedy_hash,
             ${derivationIndexOf('deposits')}
      from (
        (select 'deposit' as kind, deposit_id, booked_at, null as returned_by from booked_deposits
         where merchant_id = ${merchantId} and ${within('booked_at', 'deposit_id')}
         order by booked_at, deposit_id limit ${limit})
        union all
        (select 'return', deposit_id, booked_at, transaction_hash from booked_returns
         where merchant_id = ${merchantId} and ${within('booked_at', 'deposit_id')}
         order by booked_at, deposit_id limit ${limit})
      ) as booked
      join deposits on deposits.id = deposit_id
      join networks on networks.id = deposits.blockchain_id
      left join payments on payments.id = deposits.payment_id
    ) as movements
    order by at, id limit ${limit}`.execute(db);
  return rows;
}
