import { audited } from '#accounts/audit/audited-change.ts';
import { ApiError } from '#errors/api-error.ts';
import { CASE_MEANINGS, type SimulationCase, simulate } from '#onchain/settlement/simulate.ts';
import { describeUnmatched } from '#onchain/settlement/unmatched-reasons.ts';
import { auditRefusal, maySimulate } from '#payments/may-simulate.ts';
import { simulateRegulated } from '#payments/processors/simulate-regulated.ts';
import type { Deposit } from '#storage/database/deposit-tables.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { findMerchant } from '#storage/repositories/accounts/merchants.ts';
import type { Session } from '../session.ts';
import { CommandFailed } from '../terminal.ts';
import { requirePayment } from './payment-object.ts';

/** What became of a simulated payment. */
export interface Played {
  readonly payment: Payment;
  /** A sentence for the payment, and one for each transfer that it did not take. */
  readonly result: string;
  /** The simulated transfers. */
  readonly deposits: readonly Deposit[];
}

/**
 * Plays a case on a payment, as its customer and the chain or the sandbox processor would, and writes it to
 * the audit log.
 * @param network Network to choose if the payment has none.
 * @throws CommandFailed and OperationRefused when it cannot be played.
 */
export async function playCase(
  session: Session,
  id: string,
  simulation: SimulationCase,
  network: string | undefined,
): Promise<Played> {
  const before = await requirePayment(session.db, id);
  await requireSimulation(session, before);
  const played = before.flow === 'regulated' ? playRegulated : playOnChain;
  const deposits = await played(session, before, simulation, network);
  const payment = await requirePayment(session.db, id);
  await audited(session, 'payment.simulate', async () => ({
    result: undefined,
    objectId: id,
    detail: { case: simulation, status: payment.status },
  }));
  return { payment, deposits, result: describeResult(before, payment, deposits) };
}

async function playOnChain(
  { db, clock, config }: Session,
  { id }: Payment,
  simulation: SimulationCase,
  network: string | undefined,
): Promise<readonly Deposit[]> {
  const { openRates } = await import('#payments/rates/open-rates.ts');
  const rates = openRates(config, { clock, log: { warn: () => undefined } });
  const now = new Date(clock());
  const simulator = { db, rates, simulation: config.simulation };
  const { deposits } = await simulate(simulator, id, simulation, now, network).catch(asFailure);
  return deposits;
}

async function playRegulated(
  { db, clock, keyring, config }: Session,
  payment: Payment,
  simulation: SimulationCase,
  network: string | undefined,
): Promise<readonly Deposit[]> {
  if (network !== undefined) {
    throw new CommandFailed('A payment on a US account has no network to choose here.');
  }
  const { createSandboxProcessor } = await import('#payments/processors/sandbox-processor.ts');
  const sandbox = createSandboxProcessor(keyring, config.publicUrl);
  const deps = { db, clock, simulation: config.simulation };
  await simulateRegulated(deps, sandbox, payment, simulation);
  return [];
}

/**
 * Refuses what may be done to payments of test merchants alone, and on a service that simulates; the audit log has who
 * tried.
 * @throws CommandFailed for a payment of a live merchant in production and without SIMULATION.
 */
export async function requireSimulation(session: Session, payment: Payment): Promise<void> {
  const { simulation, environment } = session.config;
  const merchant = await findMerchant(session.db, payment.merchant_id);
  if (merchant !== undefined && maySimulate(simulation, merchant.environment)) return;
  await auditRefusal(session, payment);
  throw new CommandFailed(
    environment === 'production'
      ? 'In production only payments of test merchants are simulated, and this is a live one’s.'
      : 'Payments of live merchants are simulated on the embedded database; on any other that needs SIMULATION=on.',
  );
}

/** What became of a payment, in a sentence, and one for each transfer that it did not take. */
export function describeResult(
  before: Payment,
  after: Payment,
  deposits: readonly Deposit[] = [],
): string {
  const moved = before.status !== after.status || before.session_status !== after.session_status;
  const isKnown = after.last_error_at?.getTime() === before.last_error_at?.getTime();
  const error = isKnown ? null : after.last_error_message;
  return [
    `The payment is ${moved ? 'now' : 'still'} ${stateOf(after)}.`,
    ...(error === null ? [] : [error]),
    ...describeUnmatched(deposits),
  ].join('\n');
}

function stateOf({ status, session_status: session }: Payment): string {
  return status === 'pending' && session === 'completed' ? 'pending, with its funds seen' : status;
}

/** Prints the message of a refusal without its error code. */
function asFailure(error: unknown): never {
  if (error instanceof ApiError) throw new CommandFailed(error.message, { cause: error });
  throw error;
}

/** The cases for the help, a line each. */
export function describeCases(): string {
  return Object.entries(CASE_MEANINGS)
    .map(([name, meaning]) => `  ${name.padEnd(10)} ${meaning}`)
    .join('\n');
}
