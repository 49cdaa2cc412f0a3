import { hashToken } from '#crypto/token.ts';
import { ApiError } from '#errors/api-error.ts';
import { isWatchedInTime } from '#onchain/settlement/availability.ts';
import { hasLapsed } from '#onchain/settlement/lapse-quotes.ts';
import { leastAmount } from '#onchain/settlement/least-amount.ts';
import { roundedAmount, toBaseUnits } from '#onchain/settlement/quote-amounts.ts';
import { readParts } from '#onchain/settlement/remaining.ts';
import { isOpen } from '#onchain/settlement/select-network.ts';
import { dueCents } from '#payments/commission.ts';
import { maySimulate } from '#payments/may-simulate.ts';
import { movePayment } from '#payments/move-payment.ts';
import { listOfferedNetworks, offeringFor } from '#payments/offered-networks.ts';
import { type Rates, RateUnavailable } from '#payments/rates/rate-source.ts';
import type { Connection, Database } from '#storage/database/connection.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { transact } from '#storage/database/transaction.ts';
import { listDepositAddresses } from '#storage/repositories/accounts/deposit-addresses.ts';
import { findLogoHash } from '#storage/repositories/accounts/merchant-logos.ts';
import { findMerchant } from '#storage/repositories/accounts/merchants.ts';
import { findNetworkOnChain, type NetworkOnChain } from '#storage/repositories/chains/networks.ts';
import {
  listTransfers,
  NO_TRANSFERS,
  type Transfers,
} from '#storage/repositories/deposits/transfers.ts';
import { listUnderpaid, lockPayment } from '#storage/repositories/payments/moves.ts';
import {
  type CheckoutPayment,
  countRecentChoices,
  findPaymentByCheckoutToken,
} from '#storage/repositories/payments/payments.ts';
import type { TraceContext } from '#telemetry/trace-context.ts';
import { NO_PROGRESS, type Progress, progressOf } from './progress.ts';

/** A network that the customer may choose. */
export interface NetworkChoice {
  readonly network: NetworkOnChain;
  /** False while there is no agreed price, or the network is watched with a delay: it is shown disabled. */
  readonly available: boolean;
  /** The estimated amount in the asset's smallest unit; null without a price. */
  readonly tokenAmount: bigint | null;
}

/** What payers see of a merchant. */
export interface Shop {
  readonly name: string;
  /** Whether it is a test merchant, which takes no real money. */
  readonly isTest: boolean;
  /** An e-mail address or an https URL; null for none. */
  readonly supportContact: string | null;
  /** `#rrggbb`; null for the service's own. */
  readonly accentColor: string | null;
  /** Hash under which the logo is served; null for none. */
  readonly logoHash: string | null;
  /** Whether payers see the note of a payment. */
  readonly showsNote: boolean;
}

/** What a checkout page shows. */
export interface Checkout {
  readonly payment: Payment;
  readonly shop: Shop;
  /** The chosen network; null before the choice and after its price has lapsed. */
  readonly network: NetworkOnChain | null;
  /**
   * The offered networks, including the chosen one. Those that the merchant's customers choose most come first. Empty
   * if the payment is not open.
   */
  readonly choices: readonly NetworkChoice[];
  readonly progress: Progress;
  /** What a paid payment has received, in the asset's smallest unit; null before it is paid. */
  readonly received: bigint | null;
  readonly transfers: Transfers;
  /** Whether it may be simulated. */
  readonly isSimulable: boolean;
}

/** Query parameters that are added to a redirect URL. */
export const RETURNED = ['promptId', 'status'] as const;

/**
 * Finds the payment of a checkout link.
 * @throws ApiError E3001 for an unknown token, and for the payment of a US account, which is paid on the
 * processor's page.
 */
export async function findCheckoutPayment(db: Connection, token: string): Promise<CheckoutPayment> {
  const payment = await findPaymentByCheckoutToken(db, hashToken(token));
  if (payment?.flow !== 'crypto') throw new ApiError('E3001', 'There is no such checkout.');
  return payment;
}

interface CheckoutReader {
  readonly db: Connection;
  readonly rates: Rates;
  /** Whether the service simulates the payments of all merchants. */
  readonly simulation: boolean;
}

export async function readCheckout(
  { db, rates, simulation }: CheckoutReader,
  payment: CheckoutPayment,
  now: Date,
): Promise<Checkout> {
  const isOffering = isOpen(payment, now);
  const [transfers, shop, networks, addresses, popular] = await Promise.all([
    readTransfers(db, payment),
    readShop(db, payment.merchant_id),
    listOfferedNetworks(db, offeringFor(simulation, payment.merchant_environment)),
    listDepositAddresses(db, payment.branch_id),
    isOffering ? countRecentChoices(db, payment.merchant_id) : new Map<string, number>(),
  ]);
  const offered = isOffering
    ? networks.filter(
        network =>
          payment.offered_blockchain_ids.includes(network.id) &&
          addresses.some(({ blockchainId }) => blockchainId === network.id),
      )
    : [];
  const network = hasLapsed(payment, now) ? null : await chosenNetwork(db, payment, networks);
  const byUse = offered.toSorted(
    (one, other) => (popular.get(other.id) ?? 0) - (popular.get(one.id) ?? 0),
  );
  const choices = await Promise.all(
    byUse.map(async choice => {
      const due = await priceIn(rates, choice, dueCents(payment));
      // Leaves out a network if no address on it can receive so little.
      const isSendable = addresses.some(
        ({ blockchainId, address }) =>
          blockchainId === choice.id && (due === null || leastAmount(choice, address) <= due),
      );
      const { asset_symbol: symbol, asset_decimals: decimals } = choice;
      const tokenAmount = due === null ? null : roundedAmount(due, { symbol, decimals });
      const available = tokenAmount !== null && isWatchedInTime(choice, now);
      return isSendable ? [{ network: choice, available, tokenAmount }] : [];
    }),
  );
  return {
    payment,
    shop,
    network,
    choices: choices.flat(),
    progress: await readProgress(db, payment, network, transfers, now),
    received: payment.status === 'successful' ? receivedOf(payment, transfers) : null,
    transfers,
    isSimulable: maySimulate(simulation, payment.merchant_environment),
  };
}

function readTransfers(
  db: Connection,
  { id, has_transfers: hasTransfers }: CheckoutPayment,
): Promise<Transfers> | Transfers {
  return hasTransfers ? listTransfers(db, id) : NO_TRANSFERS;
}

/**
 * The sum of a payment's final transfers; null without one. Transfers on a previously chosen network are left out:
 * they are in another asset.
 */
function receivedOf(
  { blockchain_id: blockchainId }: Payment,
  { newest }: Transfers,
): bigint | null {
  const final = newest.filter(
    ({ stray_kind: strayKind, state, blockchain_id: id }) =>
      strayKind === null && state === 'final' && id === blockchainId,
  );
  if (final.length === 0) return null;
  return final.reduce((sum, { token_amount: amount }) => sum + BigInt(amount), 0n);
}

async function readShop(db: Connection, merchantId: string): Promise<Shop> {
  const [merchant, logoHash] = await Promise.all([
    findMerchant(db, merchantId),
    findLogoHash(db, merchantId),
  ]);
  return {
    name: merchant?.name ?? '',
    isTest: merchant?.environment === 'test',
    supportContact: merchant?.support_contact ?? null,
    accentColor: merchant?.accent_color ?? null,
    showsNote: merchant?.shows_note ?? false,
    logoHash,
  };
}

/** Reads what can change while the page is open; the page's script polls it. */
export async function readLiveState(
  db: Connection,
  payment: CheckoutPayment,
  now: Date,
): Promise<Pick<Checkout, 'payment' | 'progress' | 'transfers'>> {
  const { blockchain_id: id, status } = payment;
  const isWaiting = id !== null && status === 'pending' && !hasLapsed(payment, now);
  const [transfers, network] = await Promise.all([
    readTransfers(db, payment),
    isWaiting ? findNetworkOnChain(db, id) : undefined,
  ]);
  const progress = await readProgress(db, payment, network ?? null, transfers, now);
  return { payment, progress, transfers };
}

async function readProgress(
  db: Connection,
  payment: Payment,
  network: NetworkOnChain | null,
  transfers: Transfers,
  now: Date,
): Promise<Progress> {
  if (network === null) return NO_PROGRESS;
  // Only Bitcoin has wallets with an address for each payment.
  const parts = network.family === 'bitcoin' ? await readParts(db, payment) : null;
  return progressOf(payment, { network, transfers, parts, now });
}

/**
 * Cancels a payment for its customer.
 * @param trace Trace of the customer's request.
 * @throws ApiError E1040 if any funds have been seen, even too little, or the payment has ended.
 */
export function cancelCheckout(
  db: Database,
  payment: Payment,
  now: Date,
  trace: TraceContext | null,
): Promise<Payment> {
  return transact(db, async tx => {
    await lockPayment(tx, payment.id);
    if ((await listUnderpaid(tx, [payment.id])).length > 0) {
      throw new ApiError('E1040', 'Something has arrived already: the payment can be completed.');
    }
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
 * The URL that the customer returns to; null without a redirect URL. The merchant's query and fragment stay
 * byte for byte, because they may be signed; only the parameters in RETURNED are replaced.
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

/** The chosen network, even if it was switched off since: the customer may be paying on it. */
async function chosenNetwork(
  db: Connection,
  { blockchain_id: id }: Payment,
  offered: readonly NetworkOnChain[],
): Promise<NetworkOnChain | null> {
  if (id === null) return null;
  return offered.find(network => network.id === id) ?? (await findNetworkOnChain(db, id)) ?? null;
}

/** The exact price in the asset's smallest unit; null where there is none. */
async function priceIn(
  rates: Rates,
  { asset_symbol: symbol, asset_decimals: decimals }: NetworkOnChain,
  cents: number,
): Promise<bigint | null> {
  try {
    return toBaseUnits(cents, await rates.usdPrice(symbol), decimals);
  } catch (error) {
    if (error instanceof RateUnavailable) return null;
    throw error;
  }
}
