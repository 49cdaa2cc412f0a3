/**
 * Plays the histories or generated chains of the seeds that its parent sends, group by group, in
 * its own databases, whose URLs are its arguments, and returns the results.
 */
import { examine } from '../test/onchain/settlement/truth/examine.ts';
import type { Fault } from '../test/onchain/settlement/truth/judge.ts';
import { openStage } from '../test/onchain/settlement/truth/stage.ts';
import { examineChains } from '../test/onchain/watching/truth/examine.ts';
import { openChainStage } from '../test/onchain/watching/truth/stage.ts';

/** What is played. */
export type Kind = 'histories' | 'chains';

/** A request to play seeds of one group. */
export interface Batch {
  readonly kind: Kind;
  readonly seeds: readonly number[];
}

/** Counts by name. */
export type Counts = Readonly<Record<string, number>>;

/** What the process returns for a batch. */
export interface Examined {
  readonly kind: Kind;
  readonly counts: Counts;
  readonly failures: readonly {
    readonly seed: number;
    readonly faults: readonly Fault[];
    readonly text: string;
    /** Whether it also fails without the others of its group. */
    readonly isAlone: boolean;
  }[];
}

const [, , historiesUrl = '', chainsUrl = ''] = process.argv;
const stage = await openStage(historiesUrl);
const chainStage = await openChainStage(chainsUrl);
/** Number of failures to play once more by themselves; if there are more, all have one cause. */
let left = 5;

const PLAYERS = {
  async histories(seeds: readonly number[]) {
    const { tally, failures } = await examine(stage, seeds);
    const { transfers, statuses, wallets, histories, payments } = tally;
    const named = (what: string, counts: Counts) =>
      Object.entries(counts).map(([name, value]) => [`${what} ${name}`, value] as const);
    const counts = [
      ...named('payments', statuses),
      ...named('transfers', transfers),
      ...named('wallets', wallets),
    ];
    return { counts: { ...Object.fromEntries(counts), histories, payments }, failures };
  },
  async chains(seeds: readonly number[]) {
    const { tally: counts, failures } = await examineChains(chainStage, seeds);
    return { counts, failures };
  },
};

process.on('message', async ({ kind, seeds }: Batch) => {
  const { counts, failures } = await PLAYERS[kind](seeds);
  const judged = [];
  for (const failure of failures) {
    left -= 1;
    const isAlone = left >= 0 && (await PLAYERS[kind]([failure.seed])).failures.length > 0;
    judged.push({ ...failure, isAlone });
  }
  process.send?.({ kind, counts, failures: judged } satisfies Examined);
});
process.on('disconnect', () => process.exit());
