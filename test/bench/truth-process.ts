/**
 * Plays the histories of the seeds that its parent sends, group by group, in a database of its own whose
 * URL is its argument, and sends back what it found.
 */
import { examine, type Failure, type Tally } from '../settlement/truth/examine.ts';
import { openStage } from '../settlement/truth/stage.ts';

/** What the process answers for a list of seeds. */
export interface Examined {
  readonly tally: Tally;
  readonly failures: readonly (Failure & {
    /** Whether the history is known to go wrong without those that were played beside it. */
    readonly isAlone: boolean;
  })[];
}

const [, , url = ''] = process.argv;
const stage = await openStage(url);
/** Failures that are played once more by themselves; where there are more, all have one cause. */
let left = 5;

process.on('message', async (seeds: readonly number[]) => {
  const { tally, failures } = await examine(stage, seeds);
  const judged = [];
  for (const failure of failures) {
    left -= 1;
    const isAlone = left >= 0 && (await examine(stage, [failure.seed])).failures.length > 0;
    judged.push({ ...failure, isAlone });
  }
  process.send?.({ tally, failures: judged } satisfies Examined);
});
process.on('disconnect', () => process.exit());
