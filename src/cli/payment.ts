import type { Command } from 'commander';
import { OperationRefused } from '../accounts/audited-change.ts';
import type { Connection } from '../database/connection.ts';
import type { Payment } from '../database/tables.ts';
import { ApiError } from '../errors/api-error.ts';
import { listPaymentDeposits } from '../repositories/deposits.ts';
import { listTransitions } from '../repositories/payment-moves.ts';
import { findPayment } from '../repositories/payments.ts';
import { SIMULATION_CASES, type SimulationCase, simulate } from '../settlement/simulate.ts';
import { depositObjects } from './deposit-object.ts';
import { readHistory } from './payment-history.ts';
import { defineList } from './payment-list.ts';
import { paymentFields } from './payment-object.ts';
import { printList, printObject } from './print.ts';
import { withSession } from './session.ts';
import { CommandFailed, type Terminal } from './terminal.ts';
import { addVerb, choice, type JsonFlag, parseId } from './values.ts';

interface SimulateFlags extends JsonFlag {
  readonly case: SimulationCase;
  readonly network?: string;
}

/** `mp payment list | show | history | simulate` */
export function define(noun: Command, terminal: Terminal): void {
  defineList(noun, terminal);

  addVerb(noun, 'show', 'show a payment with its history and its deposits')
    .argument('<id>', 'payment ID', parseId)
    .action((id: string, flags: JsonFlag) =>
      withSession(terminal, async ({ db }) => {
        printObject(terminal, flags, await paymentObject(db, await requirePayment(db, id)));
      }),
    );

  addVerb(noun, 'history', 'list everything that happened to a payment, oldest first')
    .argument('<id>', 'payment ID', parseId)
    .action((id: string, flags: JsonFlag) =>
      withSession(terminal, async ({ db }) => {
        const entries = await readHistory(db, await requirePayment(db, id));
        printList(terminal, flags, entries, ['at', 'kind', 'what', 'id']);
      }),
    );

  const cases = Object.keys(SIMULATION_CASES);
  addVerb(noun, 'simulate', 'simulate what a customer and a chain do; not in production')
    .argument('<id>', 'payment ID', parseId)
    .addOption(choice('--case <case>', 'what to simulate', cases).makeOptionMandatory())
    .option('--network <id>', 'network to choose if the payment has none')
    .addHelpText('after', `\nCases:\n${describeCases()}`)
    .action((id: string, flags: SimulateFlags) =>
      withSession(terminal, async ({ db, config }) => {
        if (!config.simulation) {
          throw new OperationRefused(
            config.environment === 'production'
              ? 'Payments cannot be simulated in production.'
              : 'Payments are simulated on the embedded database; on any other that needs SIMULATION=on.',
          );
        }
        const { openRates } = await import('../rates/open-rates.ts');
        const simulator = {
          db,
          rates: openRates(config, { clock: Date.now, log: { warn: () => undefined } }),
        };
        const payment = await simulate(simulator, id, flags.case, new Date(), flags.network).catch(
          asFailure,
        );
        printObject(terminal, flags, await paymentObject(db, payment));
      }),
    );
}

async function requirePayment(db: Connection, id: string): Promise<Payment> {
  const payment = await findPayment(db, id);
  if (payment === undefined) throw new OperationRefused(`There is no payment ${id}.`);
  return payment;
}

async function paymentObject(db: Connection, payment: Payment) {
  const [transitions, deposits] = await Promise.all([
    listTransitions(db, payment.id),
    listPaymentDeposits(db, payment.id),
  ]);
  return {
    ...paymentFields(payment),
    history: transitions.map(transition => ({
      at: transition.at,
      from: `${transition.from_status}/${transition.from_session_status}`,
      to: `${transition.to_status}/${transition.to_session_status}`,
      actor: transition.actor,
      reason: transition.reason,
    })),
    deposits: await depositObjects(db, deposits),
  };
}

/** Prints the message of a refusal without its error code. */
function asFailure(error: unknown): never {
  if (error instanceof ApiError) throw new CommandFailed(error.message, { cause: error });
  throw error;
}

function describeCases(): string {
  return Object.entries(SIMULATION_CASES)
    .map(([name, meaning]) => `  ${name.padEnd(10)} ${meaning}`)
    .join('\n');
}
