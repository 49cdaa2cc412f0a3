import type { Connection, Database } from '../database/connection.ts';
import type { Network, Payment } from '../database/tables.ts';
import { transact } from '../database/transaction.ts';
import { ApiError } from '../errors/api-error.ts';
import { hashCheckoutToken } from '../payments/checkout-token.ts';
import { movePayment } from '../payments/move-payment.ts';
import type { Rates } from '../rates/rate-source.ts';
import { listConfiguredNetworks } from '../repositories/deposit-addresses.ts';
import { listDepositsByHash } from '../repositories/deposits.ts';
import { findMerchant } from '../repositories/merchants.ts';
import { findNetwork, listActiveNetworks } from '../repositories/networks.ts';
import { findPaymentByCheckoutToken } from '../repositories/payments.ts';
import { isOpen } from '../settlement/select-network.ts';
import type { TraceContext } from '../telemetry/trace-context.ts';

/** A network on the picker: shown, but not to be chosen, while it has no agreed price. */
export interface NetworkChoice {
  readonly network: Network;
  readonly available: boolean;
}

/** All that a checkout page shows. */
export interface Checkout {
  readonly payment: Payment;
  readonly merchantName: string;
  /** The chosen network; null before. */
  readonly network: Network | null;
  /** What may be chosen instead; empty when the payment is not open. */
  readonly choices: readonly NetworkChoice[];
}

/** What the service knows of a transaction that a customer asks about. */
export type TransactionKnowledge =
  | 'unknown'
  | 'seen'
  | 'final'
  | 'reversed'
  | 'failed'
  | 'elsewhere';

/** Query parameters that a return carries. */
export const RETURNED = ['promptId', 'status'] as const;

/**
 * The payment behind a checkout link.
 * @throws ApiError E3001 for a token that is none, and for one of a US account, which is paid on its
 * processor's page.
 */
export async function findCheckoutPayment(db: Connection, token: string): Promise<Payment> {
  const payment = await findPaymentByCheckoutToken(db, hashCheckoutToken(token));
  if (payment?.flow !== 'crypto') throw new ApiError('E3001', 'There is no such checkout.');
  return payment;
}

/** Everything a checkout page shows of a payment. */
export async function readCheckout(
  db: Connection,
  rates: Rates,
  payment: Payment,
  now: Date,
): Promise<Checkout> {
  const [merchant, networks, configured] = await Promise.all([
    findMerchant(db, payment.merchant_id),
    listActiveNetworks(db),
    listConfiguredNetworks(db, payment.branch_id),
  ]);
  const offered = isOpen(payment, now)
    ? networks.filter(
        network =>
          payment.offered_blockchain_ids.includes(network.id) &&
          configured.some(entry => entry.id === network.id),
      )
    : [];
  return {
    payment,
    merchantName: merchant?.name ?? '',
    network: await chosenNetwork(db, payment, networks),
    choices: await Promise.all(
      offered.map(async network => ({ network, available: await isQuotable(rates, network) })),
    ),
  };
}

/**
 * Cancels a payment at the customer's wish.
 * @param trace Trace of the customer's request.
 * @throws ApiError E1040 when funds have been seen or the payment has ended.
 */
export function cancelCheckout(
  db: Database,
  payment: Payment,
  now: Date,
  trace: TraceContext | null,
): Promise<Payment> {
  return transact(db, async tx => {
    const cancelled = await movePayment(tx, {
      paymentId: payment.id,
      move: 'cancel',
      actor: 'customer',
      reason: 'cancelled on the checkout page',
      columns: { cancellation_reason: 'cancelled_by_customer' },
      now,
      trace,
    });
    if (cancelled === undefined) throw new ApiError('E1040', 'The payment is not open any more.');
    return cancelled;
  });
}

/** What is known of a transaction hash that the customer pastes, as far as it concerns the payment. */
export async function lookUpTransaction(
  db: Connection,
  payment: Payment,
  hash: string,
): Promise<TransactionKnowledge> {
  if (payment.blockchain_id === null) return 'unknown';
  const deposits = await listDepositsByHash(db, payment.blockchain_id, hash);
  if (deposits.length === 0) return 'unknown';
  const own = deposits.find(deposit => deposit.payment_id === payment.id);
  if (own !== undefined) return own.state;
  // What was undone has let go of its payment.
  return deposits.every(deposit => deposit.state === 'reversed') ? 'reversed' : 'elsewhere';
}

/**
 * Where the customer goes back to; null without a redirectUrl. The merchant's own query and fragment
 * stay as they were written, for they may be signed; only parameters of the same names give way.
 */
export function redirectTarget(payment: Payment): string | null {
  if (payment.redirect_url === null) return null;
  const url = new URL(payment.redirect_url);
  const own = url.search
    .slice(1)
    .split('&')
    .filter(pair => pair !== '' && !RETURNED.some(name => new URLSearchParams(pair).has(name)));
  url.search = [...own, `promptId=${payment.id}`, `status=${payment.status}`].join('&');
  return url.href;
}

/** A network that has been switched off since still says where the customer is to pay. */
async function chosenNetwork(
  db: Connection,
  { blockchain_id: id }: Payment,
  active: readonly Network[],
): Promise<Network | null> {
  if (id === null) return null;
  return active.find(network => network.id === id) ?? (await findNetwork(db, id)) ?? null;
}

async function isQuotable(rates: Rates, network: Network): Promise<boolean> {
  return rates.usdPrice(network.asset_symbol).then(
    () => true,
    () => false,
  );
}
