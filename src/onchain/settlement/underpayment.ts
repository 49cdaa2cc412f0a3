import { dueCents } from '#payments/commission.ts';
import { formatBaseUnits } from '#payments/token-amount.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { Deposit } from '#storage/database/deposit-tables.ts';
import type { Network } from '#storage/database/network-tables.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { findNetwork } from '#storage/repositories/chains/networks.ts';
import { findUnderpayment } from '#storage/repositories/deposits/deposits.ts';
import { findParts } from '#storage/repositories/deposits/parts.ts';
import { findRest } from '#storage/repositories/deposits/rests.ts';
import {
  lockPayment,
  type PaymentColumns,
  updateOpenPayment,
} from '#storage/repositories/payments/moves.ts';
import { extendedDeadlines } from './deadlines.ts';
import { leastAmount } from './least-amount.ts';
import { agreedPrice, termsFor } from './quote-amounts.ts';
import { remainingOf } from './remaining.ts';
import { reserveRest } from './reserve-amount.ts';

/** `lastError.code` of an underpaid payment. */
const UNDERPAID = 'amount_underpaid';

/**
 * Records in `last_error_*` how much of an open payment has arrived and how much remains; clears the error if
 * nothing has arrived. Once the deposit is final, reserves the rest as a distinct amount at the price and
 * address of the whole, which stays reserved too, and gives the customer another window for it.
 * Idempotent. Call it with the address locked.
 * @returns The payment as it was before, in any state; its row is locked.
 */
export async function settleUnderpayment(
  db: Connection,
  paymentId: string,
  now: Date,
): Promise<Payment | undefined> {
  const payment = await lockPayment(db, paymentId);
  if (payment?.status !== 'pending' || payment.session_status !== 'pending') return payment;
  const deposit = await findUnderpayment(db, paymentId);
  const columns =
    deposit === undefined
      ? { last_error_code: null, last_error_message: null, last_error_at: null }
      : await assess(db, payment, deposit, now);
  if (Object.keys(columns).length > 0) await updateOpenPayment(db, paymentId, columns);
  return payment;
}

/** Whether a payment is underpaid, under its current quote or a former one. */
export function isUnderpaid({ last_error_code: code }: Payment): boolean {
  return code === UNDERPAID;
}

/**
 * The columns of an underpaid payment whose amounts are released for another quote: the rest is not asked for any
 * more.
 */
export async function withoutRest(
  db: Connection,
  { id, last_error_code: code }: Pick<Payment, 'id' | 'last_error_code'>,
): Promise<PaymentColumns> {
  if (code !== UNDERPAID) return {};
  const deposit = await findUnderpayment(db, id);
  return deposit === undefined ? {} : { last_error_message: await ofEarlierQuote(db, id, deposit) };
}

/** What is said of a deposit that was too little for a quote which is over. */
async function ofEarlierQuote(
  db: Connection,
  paymentId: string,
  { blockchain_id: blockchainId, address }: Deposit,
): Promise<string> {
  const isOwn = (await findParts(db, paymentId, { blockchainId, address })) !== undefined;
  return `What has arrived was for an earlier quote: ${isOwn ? COUNTS_AGAIN : COUNTS_NO_MORE}`;
}

const COUNTS_AGAIN =
  'it counts if its network is chosen again, where several transfers to the same address add up.';
const COUNTS_NO_MORE = 'only the whole amount of the next one settles the payment.';

async function assess(
  db: Connection,
  payment: Payment,
  deposit: Deposit,
  now: Date,
): Promise<PaymentColumns> {
  const network = await findNetwork(db, deposit.blockchain_id);
  // A payment whose customer has chosen another network since then asks for the whole there.
  const isHere =
    payment.blockchain_id === deposit.blockchain_id && payment.address === deposit.address;
  if (network === undefined || payment.token_amount === null || !isHere) {
    if (payment.last_error_code !== null) return {};
    const last_error_message = await ofEarlierQuote(db, payment.id, deposit);
    return { last_error_code: UNDERPAID, last_error_message, last_error_at: now };
  }
  const whole = BigInt(payment.token_amount);
  const received = BigInt(deposit.token_amount);
  const amountOf = (units: bigint) =>
    `${formatBaseUnits(units, network.asset_decimals)} ${network.asset_symbol}`;
  const report = (remaining: bigint, hint: string, columns: PaymentColumns = {}) => ({
    ...columns,
    last_error_code: UNDERPAID,
    last_error_message: `Received ${amountOf(received)} of ${amountOf(whole)} by the transfer ${deposit.transaction_hash}, remaining ${amountOf(remaining)}. ${hint}`,
    last_error_at: now,
  });
  const parts = await findParts(db, payment.id, {
    blockchainId: deposit.blockchain_id,
    address: deposit.address,
  });
  if (parts !== undefined) {
    const isFinal = deposit.state === 'final';
    const { remaining } = remainingOf(parts, network, deposit.address);
    return {
      ...(isFinal ? extendedDeadlines(payment, network.window_minutes, now) : {}),
      last_error_code: UNDERPAID,
      last_error_message: `Received ${amountOf(parts.arrived)} of ${amountOf(whole)}, remaining ${amountOf(remaining)}. Several transfers to this address add up.`,
      last_error_at: now,
    };
  }
  const missing = whole - received;
  if (deposit.state === 'seen') {
    return report(missing, 'The rest is asked for once the transfer is final.');
  }
  const hint = missing < leastAmount(network, deposit.address, true) ? RAISED : EXACTLY;
  const before = await findRest(db, payment.id);
  if (before !== undefined) return report(before.tokenAmount, hint);
  const rest = await reserve(db, { payment, deposit, network, missing }, now);
  if (typeof rest === 'string') return report(missing, rest);
  return report(rest, hint, extendedDeadlines(payment, network.window_minutes, now));
}

const EXACTLY = 'Exactly this amount completes the payment.';
const RAISED = `${EXACTLY} It is more than what is missing, since wallets send no less.`;

interface Underpaid {
  readonly payment: Payment;
  readonly deposit: Deposit;
  readonly network: Network;
  /** What is missing of the whole amount, in the asset's smallest unit. */
  readonly missing: bigint;
}

/** The amount reserved, or why there is none. */
async function reserve(
  db: Connection,
  { payment, deposit, network, missing }: Underpaid,
  now: Date,
): Promise<bigint | string> {
  if (missing <= 0n) return 'Only the whole amount of the new quote settles the payment.';
  const asset = { symbol: network.asset_symbol, decimals: network.asset_decimals };
  const whole = BigInt(payment.token_amount ?? 0);
  const price = agreedPrice(dueCents(payment), whole, asset.decimals);
  const least = leastAmount(network, deposit.address, true);
  const terms = termsFor(missing, asset, price, { least, whole });
  const amounts = terms.amounts.filter(amount => amount < whole);
  const reserved =
    amounts.length === 0
      ? undefined
      : await reserveRest(
          db,
          { ...deposit, payment_id: payment.id },
          network,
          { ...terms, amounts },
          now,
        );
  return reserved ?? 'No amount is free to ask for it: only the whole amount settles the payment.';
}
