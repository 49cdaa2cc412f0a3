import type { MerchantEnvironment } from '../../database/account-tables.ts';
import type { Connection } from '../../database/connection.ts';
import type { Network } from '../../database/network-tables.ts';
import type { Payment } from '../../database/payment-tables.ts';
import { HAS_TRANSFERS } from '../deposits/transfers.ts';
import { findById } from '../rows.ts';

/** A payment of any merchant, for operators and the checkout. */
export const findPayment = findById('payments');

/** A payment as its checkout page polls it. */
export type CheckoutPayment = Payment & {
  /** Whether it may have transfers to list. */
  has_transfers: boolean;
  merchant_environment: MerchantEnvironment;
};

/** @param tokenHash SHA-256 of the token in the checkout link. */
export function findPaymentByCheckoutToken(
  db: Connection,
  tokenHash: Buffer,
): Promise<CheckoutPayment | undefined> {
  return db
    .selectFrom('payments')
    .innerJoin('merchants', 'merchants.id', 'payments.merchant_id')
    .selectAll('payments')
    .select('merchants.environment as merchant_environment')
    .select(HAS_TRANSFERS.as('has_transfers'))
    .where('checkout_token_hash', '=', tokenHash)
    .executeTakeFirst();
}

/** A payment with the network that the customer chose; null before the choice. */
export type PaymentOnNetwork = Payment & {
  network_name: string | null;
  asset_symbol: string | null;
  /** URL of a transaction's page, with `{hash}` in it; also null without a block explorer. */
  explorer: string | null;
  settled_by: Network['settled_by'] | null;
};

/** Everything of a merchant's payment; undefined for another merchant's, as for a missing one. */
export function findOwnPayment(
  db: Connection,
  merchantId: string,
  id: string,
): Promise<PaymentOnNetwork | undefined> {
  return ownPayments(db, merchantId).where('payments.id', '=', id).executeTakeFirst();
}

/** Those of the payments that are a merchant's, by their IDs. */
export async function findOwnPayments(
  db: Connection,
  merchantId: string,
  ids: readonly string[],
): Promise<Map<string, PaymentOnNetwork>> {
  if (ids.length === 0) return new Map();
  const rows = await ownPayments(db, merchantId).where('payments.id', 'in', ids).execute();
  return new Map(rows.map(payment => [payment.id, payment]));
}

function ownPayments(db: Connection, merchantId: string) {
  return db
    .selectFrom('payments')
    .leftJoin('networks', 'networks.id', 'payments.blockchain_id')
    .selectAll('payments')
    .select(['networks.name as network_name', 'networks.asset_symbol', 'networks.explorer'])
    .select('networks.settled_by')
    .where('merchant_id', '=', merchantId);
}

/**
 * A merchant's payments that a transaction has paid or underpaid, at most 100.
 * @param transactionHash In any case.
 */
export function findOwnPaymentsByHash(
  db: Connection,
  merchantId: string,
  transactionHash: string,
): Promise<Payment[]> {
  return db
    .selectFrom('deposits')
    .innerJoin('payments', 'payments.id', 'deposits.payment_id')
    .selectAll('payments')
    .distinctOn('payments.id')
    .where(({ eb, fn, val }) =>
      eb(fn('lower', ['deposits.transaction_hash']), '=', fn('lower', [val(transactionHash)])),
    )
    .where('payments.merchant_id', '=', merchantId)
    .orderBy('payments.id', 'desc')
    .limit(100)
    .execute();
}

/** Number of a merchant's latest payments that show what its customers choose. */
const RECENT = 200;

/** How often each network was chosen among a merchant's latest payments. */
export async function countRecentChoices(
  db: Connection,
  merchantId: string,
): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom(
      db
        .selectFrom('payments')
        .select('blockchain_id')
        .where('merchant_id', '=', merchantId)
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(RECENT)
        .as('recent'),
    )
    .select(['blockchain_id', ({ fn }) => fn.countAll<number>().as('count')])
    .where('blockchain_id', 'is not', null)
    .groupBy('blockchain_id')
    .execute();
  return new Map(rows.map(({ blockchain_id: id, count }) => [id ?? '', Number(count)]));
}
