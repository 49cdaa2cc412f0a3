import type { Block } from '../../chains/transfer.ts';
import { updateChain } from '../../repositories/chains/chains.ts';
import type { Watcher } from '../watcher.ts';
import { coveredUntil } from './coverage.ts';
import type { Round } from './round.ts';

/** How far a tick has come. */
export interface Reached {
  /** Up to when all that was shown is final; see `FinalPolls`. */
  readonly finalUntil: Date | null;
  /** The last block that was scanned; undefined if there was none. */
  readonly through: Block | undefined;
  /** The last one that was scanned a second time. */
  readonly swept: Block | undefined;
  readonly isComplete: boolean;
  /** Whether blocks that came since a recent poll are not read yet: that poll has not shown them. */
  readonly isBrokenOff: boolean;
}

/**
 * Writes down how far the chain is watched: last in a tick, so that no payment expires before everything
 * that could have paid it was looked at.
 * @throws LeaseLost.
 */
export async function recordProgress(
  { chain, lease }: Watcher,
  { heads, polledAt }: Round,
  { finalUntil, through, swept, isComplete, isBrokenOff }: Reached,
): Promise<void> {
  const { coverage } = chain;
  const last = coverage === 'sweep' ? swept : through;
  const isByPoll = coverage === 'poll' || coverage === 'final-poll';
  const polledUntil = coverage === 'final-poll' ? finalUntil : polledAt;
  const covered =
    last === undefined || polledUntil === null || (isByPoll && !isComplete)
      ? null
      : coveredUntil(chain, heads, polledUntil, last);
  await lease.write((tx, { watched_until: former }) =>
    updateChain(tx, chain.id, {
      head_height: heads.tip.height,
      final_height: heads.finalHeight,
      ...(isComplete ? { polled_at: polledAt } : isBrokenOff ? { polled_at: null } : {}),
      watched_until: covered === null ? former : later(former, covered),
    }),
  );
}

/** What is watched stays watched, whatever a node says later. */
export function later(former: Date | null, covered: Date): Date {
  return former !== null && former > covered ? former : covered;
}
