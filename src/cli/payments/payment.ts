import type { FoundTransfer } from '#onchain/watching/look-up/found-transfers.ts';
import {
  type FoundTransaction,
  findTransaction,
} from '#onchain/watching/operate/find-transaction.ts';
import { readHistory } from '#payments/history.ts';
import { REGULATED_CASES } from '#payments/processors/simulate-regulated.ts';
import { formatBaseUnits } from '#payments/token-amount.ts';
import { SIMULATION_CASES, type SimulationCase } from '#schemas/simulation-cases.ts';
import { listNetworks } from '#storage/repositories/chains/networks.ts';
import { toolsOf } from '../chains/node.ts';
import type { CliCommand } from '../cli-command.ts';
import type { JsonFlag } from '../print.ts';
import { choice, parseId } from '../values.ts';
import { depositObjects } from './deposit-object.ts';
import { defineEvidence } from './evidence.ts';
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

/** `mp payment find-transaction` */
function defineFindTransaction(noun: CliCommand): void {
  noun
    .verb('find-transaction', 'ask a chain for a transaction, and what it paid')
    .argument('<network>', 'network ID, for example eth-usdt')
    .argument('<hash>', 'transaction hash')
    .onDatabase(async (session, network: string, hash: string, flags: JsonFlag) => {
      const found = await findTransaction(session, toolsOf(session), network, hash);
      const networks = await listNetworks(session.db);
      const decimals = new Map(networks.map(({ id, asset_decimals }) => [id, asset_decimals]));
      const transfers = found.transfers.map(transfer => transferObject(transfer, decimals));
      const { transactionHash, verdict, confirmations, required } = found;
      const object = { network, transactionHash, verdict, confirmations };
      if (flags.json) return session.show({ ...object, transfers });
      const rows = transfers.map((transfer, index) => {
        return { network: found.transfers[index]?.blockchainId, ...transfer };
      });
      session.show({ ...object, required, transfers: rows }, noteOf(found));
    });
}

function transferObject(transfer: FoundTransfer, decimals: ReadonlyMap<string, number>) {
  const { position, address, tokenAmount, depositId, paymentId, outcome, blockchainId } = transfer;
  return {
    position,
    address,
    tokenAmount: formatBaseUnits(tokenAmount, decimals.get(blockchainId) ?? 0),
    depositId,
    paymentId,
    outcome,
  };
}

function noteOf({ missing, network }: FoundTransaction): string | undefined {
  if (missing === 0) return undefined;
  return `Not everything is recorded: its block is scanned again. Progress: mp network status ${network.id}`;
}
