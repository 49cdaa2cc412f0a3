import type { BaseLogger } from 'pino';
import { ApiError } from '#errors/api-error.ts';
import { dueCents, quotedCommission } from '#payments/commission.ts';
import { isRowOffered, type Offering } from '#payments/offered-networks.ts';
import { type Rates, RateUnavailable } from '#payments/rates/rate-source.ts';
import type { Connection, Database } from '#storage/database/connection.ts';
import type { Network } from '#storage/database/network-tables.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { transact } from '#storage/database/transaction.ts';
import { findNetworkOnChain, type NetworkOnChain } from '#storage/repositories/chains/networks.ts';
import { listPaymentDeposits } from '#storage/repositories/deposits/deposits.ts';
import { releaseReservation } from '#storage/repositories/deposits/reservations.ts';
import { lockPayment, updateOpenPayment } from '#storage/repositories/payments/moves.ts';
import { findPayment } from '#storage/repositories/payments/payments.ts';
import { CHAIN_ACTOR } from './apply-deposit.ts';
import { applyParts } from './apply-parts.ts';
import { isWatchedInTime } from './availability.ts';
import { deadlinesFrom } from './deadlines.ts';
import { hasLapsed } from './lapse-quotes.ts';
import { termsFor, toBaseUnits } from './quote-amounts.ts';
import { reserveAmount } from './reserve-amount.ts';
import { isUnderpaid, settleUnderpayment, withoutRest } from './underpayment.ts';

interface Choice {
  readonly payment: Payment;
  readonly blockchainId: string;
  /** What the merchant's customers are offered. */
  readonly offering: Offering;
  /** Warned when few amounts are free at the branch's addresses. */
  readonly log?: Pick<BaseLogger, 'warn'>;
}

/**
 * Selects the network to pay on: fixes the price, reserves a token amount that is unique at the address, and restarts
 * the payment window. A payment whose expiry was fixed at creation keeps that expiry; its price is held for the
 * window only. Selecting the same network again changes nothing while the price is held; otherwise the previous
 * amount is released, and still settles the payment until the end of its window.
 *
 * @throws ApiError E1040 if the payment is no longer open or the network is not offered, E5002 if there is no agreed
 * price or no free amount now, or transfers on the network are seen too late.
 */
export async function selectNetwork(
  db: Database,
  rates: Rates,
  { payment, blockchainId, offering, log }: Choice,
  now: Date,
): Promise<Payment> {
  const network = await requireOffered(db, { payment, blockchainId, offering });
  // Before the transaction, so that no lock is held while the rates are fetched.
  const price = await priceOf(rates, network);
  return transact(db, async tx => {
    const open = await lockPayment(tx, payment.id);
    if (open === undefined || !isOpen(open, now)) {
      throw new ApiError('E1040', 'The payment is not open any more.');
    }
    if (open.blockchain_id === blockchainId && !hasLapsed(open, now)) return open;
    if (!isWatchedInTime(network, now)) {
      throw new ApiError('E5002', `Transfers on ${blockchainId} are seen with a delay just now.`);
    }
    await releaseReservation(tx, open.id, now);
    return quote(tx, { payment: open, network, price, log }, now);
  });
}

interface Quoted {
  readonly payment: Payment;
  readonly network: Network;
  /** US dollars for one whole unit of the asset, scaled by 1e18. */
  readonly price: bigint;
  readonly log: Choice['log'] | undefined;
}

/** Whether a payment still waits for its customer. */
export function isOpen(payment: Payment, now: Date): boolean {
  return (
    payment.status === 'pending' && payment.session_status === 'pending' && payment.expires_at > now
  );
}

async function quote(
  db: Connection,
  { payment, network, price, log }: Quoted,
  now: Date,
): Promise<Payment> {
  const asset = { symbol: network.asset_symbol, decimals: network.asset_decimals };
  const terms = termsFor(toBaseUnits(dueCents(payment), price, asset.decimals), asset, price);
  const reserved = await reserveAmount(db, { payment, network, terms, log }, now);
  if (reserved === undefined) throw notOffered(network.id);
  const updated = await updateOpenPayment(db, payment.id, {
    blockchain_id: network.id,
    address: reserved.address,
    token_amount: reserved.tokenAmount,
    token_decimals: asset.decimals,
    commission_amount: quotedCommission(payment),
    quoted_at: now,
    ...(await withoutRest(db, payment)),
    ...deadlinesFrom(payment, network.window_minutes, now),
  });
  if (updated === undefined) throw new ApiError('E1040', 'The payment is not open any more.');
  if (payment.last_error_code === null) return updated;
  // Parts at the payment's own address count for any quote there, and may suffice for this one.
  const areParts = await applyPartsAt(db, updated, now);
  // A customer who returns to an underpaid quote is asked for the rest again.
  if (!areParts && reserved.isFormer && isUnderpaid(payment)) {
    await settleUnderpayment(db, payment.id, now);
  }
  return (await findPayment(db, payment.id)) ?? updated;
}

/** Returns whether parts have arrived at the payment's own address. */
async function applyPartsAt(db: Connection, payment: Payment, now: Date): Promise<boolean> {
  const deposits = await listPaymentDeposits(db, payment.id);
  const part = deposits.findLast(
    ({ blockchain_id: blockchainId, address, state }) =>
      blockchainId === payment.blockchain_id &&
      address === payment.address &&
      (state === 'seen' || state === 'final'),
  );
  if (part === undefined) return false;
  return (await applyParts(db, payment.id, part, { now, actor: CHAIN_ACTOR })) !== undefined;
}

async function requireOffered(
  db: Connection,
  { payment, blockchainId, offering }: Choice,
): Promise<NetworkOnChain> {
  const chosen = payment.flow === 'crypto' && payment.offered_blockchain_ids.includes(blockchainId);
  const network = chosen ? await findNetworkOnChain(db, blockchainId) : undefined;
  if (network === undefined || !isRowOffered(network, offering)) throw notOffered(blockchainId);
  return network;
}

async function priceOf(rates: Rates, network: Network): Promise<bigint> {
  try {
    return await rates.usdPrice(network.asset_symbol);
  } catch (cause) {
    if (!(cause instanceof RateUnavailable)) throw cause;
    throw new ApiError('E5002', `There is no price of ${network.asset_symbol} just now.`, {
      cause,
    });
  }
}

function notOffered(blockchainId: string): ApiError {
  return new ApiError('E1040', `${blockchainId} is not offered for this payment.`);
}
