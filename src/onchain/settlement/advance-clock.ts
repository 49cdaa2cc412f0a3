import { OperationRefused } from '#accounts/audit/audited-change.ts';
import { requireSimulable } from '#payments/may-simulate.ts';
import {
  expireRegulatedIfDue,
  requireSandbox,
  SIMULATION_ACTOR,
} from '#payments/processors/simulate-regulated.ts';
import type { MerchantEnvironment } from '#storage/database/account-tables.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { findNetwork } from '#storage/repositories/chains/networks.ts';
import {
  bringDeliveriesForward,
  bringPaymentForward,
} from '#storage/repositories/payments/clock.ts';
import { lockPayment } from '#storage/repositories/payments/moves.ts';
import { expireIfDue } from './expire-on-chain.ts';
import { lapseIfDue } from './lapse-quotes.ts';

/** A payment, and by how much its clock is advanced. */
interface ClockAdvance {
  readonly paymentId: string;
  readonly milliseconds: number;
  /** Whether the service simulates the payments of all merchants. */
  readonly simulation: boolean;
}

/**
 * Moves the clock of a simulated payment forward: what was due later is due that much sooner, and is done at once, as
 * the worker would do it. The price lapses, the payment expires, and failed deliveries of its events are due again.
 * If the payment has ended, only deliveries are left. Call it in a transaction. The worker attempts due deliveries
 * after the commit, unless the caller claims them before it.
 *
 * The clock jumps, so what would have happened several times happens once. Only times of future actions move. Times
 * of what has happened stay: the creation (which the ID and the order of lists repeat, and from which the longest
 * lifetime counts), events, attempts, transitions and transfers, and when amounts were reserved and released, since
 * transfers find their payments by those times. Idempotency keys do not move either: they belong to a request, not to
 * the payment.
 * @throws OperationRefused for a payment that does not exist or may not be simulated, for an open one that uses a real
 * processor or, of a live merchant, a chain that has a node, and for one that has ended with nothing left to deliver.
 */
export async function advanceClock(
  tx: Connection,
  { paymentId, milliseconds, simulation }: ClockAdvance,
  now: Date,
): Promise<void> {
  const payment = await lockPayment(tx, paymentId);
  if (payment === undefined) throw new OperationRefused('payment-unknown', { paymentId });
  const environment = await requireSimulable(tx, simulation, payment);
  const isOpen = payment.status === 'pending';
  if (isOpen) await requireSimulated(tx, payment, environment);
  const deliveries = await bringDeliveriesForward(tx, paymentId, milliseconds);
  if (!isOpen && deliveries === 0) {
    throw new OperationRefused('clock-without-events', { status: payment.status });
  }
  const advanced = await bringPaymentForward(tx, paymentId, milliseconds);
  if (advanced === undefined) return;
  if (advanced.flow === 'regulated') return expireRegulatedIfDue(tx, advanced, now);
  await expireIfDue(tx, paymentId, { now, actor: SIMULATION_ACTOR });
  await lapseIfDue(tx, paymentId, now);
}

async function requireSimulated(
  db: Connection,
  payment: Payment,
  environment: MerchantEnvironment,
): Promise<void> {
  if (payment.flow === 'regulated') return requireSandbox(payment);
  if (payment.blockchain_id === null || environment === 'test') return;
  const network = await findNetwork(db, payment.blockchain_id);
  if (network === undefined || network.settled_by === 'simulation') return;
  const { id: blockchainId, chain } = network;
  throw new OperationRefused('clock-on-chain', { blockchainId, chain });
}
