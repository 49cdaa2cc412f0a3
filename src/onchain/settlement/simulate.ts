import { OperationRefused } from '#accounts/audit/audited-change.ts';
import { randomTransactionHash } from '#chains/transaction-hash.ts';
import { requireSimulable } from '#payments/may-simulate.ts';
import { movePayment } from '#payments/move-payment.ts';
import { offeringFor } from '#payments/offered-networks.ts';
import { SIMULATION_ACTOR } from '#payments/processors/simulate-regulated.ts';
import { orFixedRates } from '#payments/rates/fixed-rates.ts';
import type { Rates } from '#payments/rates/rate-source.ts';
import { SIMULATION_CASES, type SimulationCase } from '#schemas/simulation-cases.ts';
import type { MerchantEnvironment } from '#storage/database/account-tables.ts';
import type { Connection, Database } from '#storage/database/connection.ts';
import type { Deposit } from '#storage/database/deposit-tables.ts';
import type { Network } from '#storage/database/network-tables.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { transact } from '#storage/database/transaction.ts';
import { findNetwork, findSimulatedNetwork } from '#storage/repositories/chains/networks.ts';
import { listPaymentDeposits } from '#storage/repositories/deposits/deposits.ts';
import { bringPaymentForward } from '#storage/repositories/payments/clock.ts';
import { listUnderpaid, lockPayment } from '#storage/repositories/payments/moves.ts';
import { findPayment, type PaymentOnNetwork } from '#storage/repositories/payments/payments.ts';
import { hasLapsed } from './lapse-quotes.ts';
import { observeTransfer } from './observe-transfer.ts';
import type { Finality, ObservedTransfer } from './observed-transfer.ts';
import { readRemaining } from './remaining.ts';
import { isOpen, selectNetwork } from './select-network.ts';

/** What happens in each case. */
export const CASE_MEANINGS: Readonly<Record<SimulationCase, string>> = {
  confirm: 'the exact amount arrives and becomes final',
  detect: 'the exact amount is seen, not final yet',
  under: 'too little arrives',
  rest: 'too little arrives, then the exact rest',
  over: 'a little too much arrives and becomes final, unless others are open at the address',
  late: 'the exact amount arrives after the payment has ended',
  duplicate: 'the exact amount arrives twice',
  revert: 'the transaction fails on chain',
  reorg: 'the exact amount is seen, then undone by the chain',
  fail: 'the transaction fails on chain after it was seen',
  cancel: 'the customer cancels',
  expire: 'the time runs out without a payment, or after too little',
};

export type { SimulationCase };

/** The result of a simulation. */
export interface Simulation {
  readonly payment: Payment;
  /** The simulated transfers, also those that no payment took. */
  readonly deposits: readonly Deposit[];
}

interface Simulator {
  readonly db: Database;
  readonly rates: Rates;
  /** Whether the service simulates the payments of all merchants. */
  readonly simulation: boolean;
}

/**
 * The cases that the state of a payment on chain allows: any other would be refused, or change nothing.
 * @param environment Of its merchant.
 */
export async function listCases(
  db: Connection,
  payment: PaymentOnNetwork,
  environment: MerchantEnvironment,
  now: Date,
): Promise<SimulationCase[]> {
  const isSimulated = await mayReceive(db, payment, environment, now);
  if (payment.status !== 'pending') return isSimulated ? ['late'] : [];
  if (payment.session_status !== 'pending') return isSimulated ? ['confirm'] : [];
  const mayExpire = isSimulated || payment.blockchain_id === null;
  return SIMULATION_CASES.filter(
    each => each === 'cancel' || (each === 'expire' ? mayExpire : isSimulated),
  );
}

/** Whether transfers are simulated on the network that is chosen, or on the one that would be. */
async function mayReceive(
  db: Connection,
  payment: PaymentOnNetwork,
  environment: MerchantEnvironment,
  now: Date,
): Promise<boolean> {
  const { blockchain_id: chosen, offered_blockchain_ids: offered, settled_by: by } = payment;
  const isTest = environment === 'test';
  if (chosen !== null && !hasLapsed(payment, now)) return isTest || by === 'simulation';
  if (!isOpen(payment, now) || offered.length === 0) return false;
  const network = await findSimulatedNetwork(db, chosen === null ? offered : [chosen]);
  return isTest || network?.is_active === true;
}

/**
 * Simulates a case on a payment, through the same functions as real transfers and customers. If the
 * payment has no network yet, selects `blockchainId` or the first one offered whose chain has no node.
 * @throws OperationRefused for a payment that does not exist, may not be simulated or is not paid on chain, and for a
 * transfer of a live merchant on a network whose chain has a node: its transfers come from the chain alone.
 * @throws ApiError E1040 and E5002, like `selectNetwork`.
 */
export async function simulate(
  simulator: Simulator,
  paymentId: string,
  simulation: SimulationCase,
  now: Date,
  blockchainId?: string,
): Promise<Simulation> {
  const { db } = simulator;
  const payment = await requireCryptoPayment(db, paymentId);
  const environment = await requireSimulable(db, simulator.simulation, payment);
  let deposits: Deposit[] = [];
  if (simulation === 'cancel') {
    await transact(db, tx =>
      movePayment(tx, {
        paymentId,
        move: 'cancel',
        actor: SIMULATION_ACTOR,
        reason: 'cancelled by simulation',
        columns: { cancellation_reason: 'cancelled_by_customer' },
        now,
      }),
    );
  } else if (simulation === 'expire') {
    await expire(db, payment, environment, now);
  } else {
    const choice = { payment, environment, blockchainId };
    const selected = await ensureNetwork(simulator, choice, now);
    deposits = await simulateTransfers(db, { payment: selected, environment }, simulation, now);
  }
  return { payment: await requireCryptoPayment(db, paymentId), deposits };
}

interface SimulatedPayment {
  readonly payment: Payment;
  /** Of its merchant. */
  readonly environment: MerchantEnvironment;
}

async function simulateTransfers(
  db: Database,
  { payment, environment }: SimulatedPayment,
  simulation: Exclude<SimulationCase, 'cancel' | 'expire'>,
  now: Date,
): Promise<Deposit[]> {
  const requested = BigInt(payment.token_amount ?? 0);
  const network = await findNetwork(db, payment.blockchain_id ?? '');
  if (network !== undefined) requireSimulated(network, environment);
  const randomHash = () => randomTransactionHash(network?.family ?? 'ethereum');
  const transfer = (tokenAmount: bigint, transactionHash = randomHash()) => ({
    blockchainId: payment.blockchain_id ?? '',
    transactionHash,
    position: 0,
    address: payment.address ?? '',
    tokenAmount,
    blockHeight: 1,
    blockHash: null,
    occurredAt: now,
    source: 'simulation' as const,
  });
  const report = async (reported: Omit<ObservedTransfer, 'finality'>, ...states: Finality[]) => {
    const deposits = [];
    for (const finality of states) {
      deposits.push(await observeTransfer(db, { ...reported, finality }, now, SIMULATION_ACTOR));
    }
    return deposits.slice(-1);
  };
  const half = transfer(requested - requested / 2n);
  switch (simulation) {
    case 'late':
      await expire(db, payment, environment, now);
      return report(transfer(requested), 'seen', 'final');
    case 'confirm': {
      // Finalises the transfer seen before, if there is one.
      const deposits = await listPaymentDeposits(db, payment.id);
      const seen = deposits.find(deposit => deposit.state === 'seen');
      const final = transfer(BigInt(seen?.token_amount ?? requested), seen?.transaction_hash);
      return report({ ...final, position: seen?.position ?? 0 }, 'seen', 'final');
    }
    case 'under':
      return report(half, 'seen', 'final');
    case 'rest': {
      // Completes what arrived before, if that was too little.
      const isUnderpaid = (await readRemaining(db, payment)) !== null;
      const part = isUnderpaid ? [] : await report(half, 'seen', 'final');
      const rest = await readRemaining(db, await requireCryptoPayment(db, payment.id));
      if (rest === null) return part;
      return [...part, ...(await report(transfer(rest.remaining), 'seen', 'final'))];
    }
    case 'over':
      return report(transfer(requested + requested / 100n), 'seen', 'final');
    case 'duplicate':
      return [
        ...(await report(transfer(requested), 'seen', 'final')),
        ...(await report(transfer(requested), 'seen', 'final')),
      ];
    default:
      return report(transfer(requested), ...STATES[simulation]);
  }
}

/** States of the transfer in cases in which the exact amount is sent once, and does not become final. */
const STATES = {
  detect: ['seen'],
  revert: ['failed'],
  fail: ['seen', 'failed'],
  reorg: ['seen', 'reversed'],
} as const;

/**
 * Expires a payment at once, as its deadline would. The deadline moves to now, so that it agrees with the status.
 * @throws OperationRefused for a live merchant on a network whose chain has a node: a real transfer may be on its way.
 */
async function expire(
  db: Database,
  { id, blockchain_id }: Payment,
  environment: MerchantEnvironment,
  now: Date,
): Promise<void> {
  const network = blockchain_id === null ? undefined : await findNetwork(db, blockchain_id);
  if (network !== undefined) requireSimulated(network, environment);
  await transact(db, async tx => {
    const open = await lockPayment(tx, id);
    if (open?.status !== 'pending' || open.session_status !== 'pending') return;
    const ahead = open.expires_at.getTime() - now.getTime();
    if (ahead > 0) await bringPaymentForward(tx, id, ahead);
    const isUnderpaid = (await listUnderpaid(tx, [id])).length > 0;
    await movePayment(tx, {
      paymentId: id,
      move: isUnderpaid ? 'expireUnderpaid' : 'expire',
      actor: SIMULATION_ACTOR,
      reason: 'expired by simulation',
      now,
    });
  });
}

async function ensureNetwork(
  { db, rates, simulation }: Simulator,
  {
    payment,
    environment,
    blockchainId,
  }: SimulatedPayment & { readonly blockchainId?: string | undefined },
  now: Date,
): Promise<Payment> {
  if (payment.blockchain_id !== null && !hasLapsed(payment, now)) return payment;
  const offered = payment.offered_blockchain_ids;
  if (offered.length === 0) throw new OperationRefused('simulation-without-network');
  const chosen = blockchainId ?? payment.blockchain_id;
  const network =
    chosen === null ? await findSimulatedNetwork(db, offered) : await findNetwork(db, chosen);
  if (chosen === null && network === undefined && environment === 'live') {
    throw new OperationRefused('simulation-on-chains');
  }
  if (network !== undefined) requireSimulated(network, environment);
  const selected = network?.id ?? chosen ?? offered[0] ?? '';
  const offering = offeringFor(simulation, environment);
  // A test merchant's own tests do not depend on markets.
  const prices = environment === 'test' ? orFixedRates(rates) : rates;
  return selectNetwork(db, prices, { payment, blockchainId: selected, offering }, now);
}

/** A test merchant receives nothing of value, so it need not wait for the chain. */
function requireSimulated(
  { id, chain, settled_by: settledBy }: Network,
  environment: MerchantEnvironment,
): void {
  if (settledBy === 'simulation' || environment === 'test') return;
  throw new OperationRefused('simulation-on-chain', { blockchainId: id, chain });
}

async function requireCryptoPayment(db: Database, id: string): Promise<Payment> {
  const payment = await findPayment(db, id);
  if (payment === undefined) throw new OperationRefused('payment-unknown', { paymentId: id });
  if (payment.flow !== 'crypto') throw new OperationRefused('simulation-on-us-account');
  return payment;
}
