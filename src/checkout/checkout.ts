import { parseTransactionHash } from '../chains/transaction-hash.ts';
import type { Connection, Database } from '../database/connection.ts';
import type { Network, Payment } from '../database/tables.ts';
import { transact } from '../database/transaction.ts';
import { ApiError } from '../errors/api-error.ts';
import { hashCheckoutToken } from '../payments/checkout-token.ts';
import { movePayment } from '../payments/move-payment.ts';
import { listOfferedNetworks } from '../payments/offered-networks.ts';
import type { Rates } from '../rates/rate-source.ts';
import { listConfiguredNetworks } from '../repositories/deposit-addresses.ts';
import { listDepositsByHash } from '../repositories/deposits.ts';
import { findMerchant } from '../repositories/merchants.ts';
import { findNetwork } from '../repositories/networks.ts';
import { findPaymentByCheckoutToken } from '../repositories/payments.ts';
import { hasLapsed } from '../settlement/lapse-quotes.ts';
import { isOpen } from '../settlement/select-network.ts';
import type { TraceContext } from '../telemetry/trace-context.ts';

/** A network that the customer may choose. */
export interface NetworkChoice {
  readonly network: Network;
  /** False while the rate sources agree on no price; the network is shown, but disabled. */
  readonly available: boolean;
}

/** What a checkout page shows. */
export interface Checkout {
  readonly payment: Payment;
  readonly merchantName: string;
  /** The chosen network; null before the choice, and when its price has lapsed. */
  readonly network: Network | null;
  /** Networks offered, the chosen one included; empty when the payment is not open. */
  readonly choices: readonly NetworkChoice[];
}

/**
 * What the service knows about a transaction; `elsewhere`: it did not count for the payment;
 * `unreadable`: the text is no transaction hash of the chosen network.
 */
export type TransactionKnowledge =
  | 'unreadable'
  | 'unknown'
  | 'seen'
  | 'final'
  | 'reversed'
  | 'failed'
  | 'elsewhere';

/** Query parameters that are added to a redirectUrl. */
export const RETURNED = ['promptId', 'status'] as const;

/**
 * Finds the payment of a checkout link.
 * @throws ApiError E3001 for an unknown token, and for the payment of a US account, which is paid on the
 * processor's page.
 */
export async function findCheckoutPayment(db: Connection, token: string): Promise<Payment> {
  const payment = await findPaymentByCheckoutToken(db, hashCheckoutToken(token));
  if (payment?.flow !== 'crypto') throw new ApiError('E3001', 'There is no such checkout.');
  return payment;
}

export interface CheckoutReader {
  readonly db: Connection;
  readonly rates: Rates;
  /** Whether payments may be simulated. */
  readonly simulation: boolean;
}

export async function readCheckout(
  { db, rates, simulation }: CheckoutReader,
  payment: Payment,
  now: Date,
): Promise<Checkout> {
  const [merchant, networks, configured] = await Promise.all([
    findMerchant(db, payment.merchant_id),
    listOfferedNetworks(db, simulation),
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
    network: hasLapsed(payment, now) ? null : await chosenNetwork(db, payment, networks),
    choices: await Promise.all(
      offered.map(async network => ({ network, available: await isQuotable(rates, network) })),
    ),
  };
}

/**
 * Cancels a payment for its customer.
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

/**
 * Looks up a transaction on the chosen network, in relation to the payment.
 * @param text What the customer took for its hash.
 */
export async function lookUpTransaction(
  db: Connection,
  payment: Payment,
  text: string,
): Promise<TransactionKnowledge> {
  const { blockchain_id: blockchainId } = payment;
  const network = blockchainId === null ? undefined : await findNetwork(db, blockchainId);
  if (network === undefined) return 'unknown';
  const hash = parseTransactionHash(network.family, text.trim());
  if (hash === undefined) return 'unreadable';
  const deposits = await listDepositsByHash(db, network.id, hash);
  if (deposits.length === 0) return 'unknown';
  const own = deposits.find(deposit => deposit.payment_id === payment.id);
  if (own !== undefined) return own.state;
  // A reversed deposit no longer belongs to a payment.
  return deposits.every(deposit => deposit.state === 'reversed') ? 'reversed' : 'elsewhere';
}

/**
 * The URL that the customer returns to; null without a redirectUrl. The merchant's query and fragment stay
 * byte for byte, because they may be signed. Only parameters named in RETURNED are replaced.
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

/** The chosen network is shown even if it has been switched off since: the customer may be paying on it. */
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
