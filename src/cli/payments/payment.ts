import { readHistory } from '#payments/history.ts';
import { REGULATED_CASES } from '#payments/processors/simulate-regulated.ts';
import { SIMULATION_CASES, type SimulationCase } from '#schemas/simulation-cases.ts';
import type { CliCommand } from '../cli-command.ts';
import type { JsonFlag } from '../print.ts';
import { choice, parseId } from '../values.ts';
import { depositObjects } from './deposit-object.ts';
import { defineEvidence } from './evidence.ts';
import { defineFindTransaction } from './find-transaction.ts';
import { historyEntry } from './history.ts';
import { defineList } from './list.ts';
import { paymentObject, requirePayment } from './payment-object.ts';
import { describeCases, playCase } from './simulate.ts';

interface SimulateFlags extends JsonFlag {
  readonly case: SimulationCase;
  readonly network?: string;
}

/** `mp payment list | show | history | find-transaction | evidence | simulate` */
export function define(noun: CliCommand): void {
  defineList(noun);

  noun
    .verb('show', 'show a payment with its history and its deposits')
    .argument('<id>', 'payment ID', parseId)
    .onDatabase(async (session, id: string) => {
      session.show(await paymentObject(session, await requirePayment(session.db, id)));
    });

  noun
    .verb('history', 'list everything that happened to a payment, oldest first')
    .argument('<id>', 'payment ID', parseId)
    .onDatabase(async ({ db, showList }, id: string) => {
      const facts = await readHistory(db, await requirePayment(db, id));
      showList(facts.map(historyEntry), ['at', 'kind', 'what', 'id']);
    });

  defineFindTransaction(noun);
  defineEvidence(noun);

  noun
    .verb('simulate', 'simulate what a customer and a chain or processor do')
    .argument('<id>', 'payment ID', parseId)
    .addOption(choice('--case <case>', 'what to simulate', SIMULATION_CASES).makeOptionMandatory())
    .option('--network <id>', 'network to choose if the payment has none')
    .addHelpText(
      'after',
      `\nCases:\n${describeCases()}\n\nA payment on a US account has ${REGULATED_CASES.join(', ')}: the sandbox\n` +
        'processor sends the notifications that a real one would.',
    )
    .onDatabase(async (session, id: string, flags: SimulateFlags) => {
      const played = await playCase(session, id, flags.case, flags.network);
      const { payment, deposits, result } = played;
      const shown = await paymentObject(session, payment);
      if (!flags.json) return session.show(shown, result);
      const simulated = await depositObjects(session.db, deposits);
      session.show({ ...shown, simulation: { case: flags.case, result, deposits: simulated } });
    });
}
