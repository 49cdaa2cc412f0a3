import type { Block } from '#chains/transfer.ts';
import { updateChain } from '#storage/repositories/chains/chains.ts';
import type { Watcher } from '../watcher.ts';
import { coveredUntil } from './coverage.ts';
import type { Round } from './round.ts';

/** How far a tick has come. */
interface Reached {
  /** Up to when everything that polls have shown is final; see `FinalPolls`. */
  readonly finalUntil: Date | null;
  /** The last block that was scanned; undefined if there was none. */
  readonly through: Block | undefined;
  /** Up to when payments may expire that wait for a second look; null if that has not moved on. */
  readonly expiresUntil: Date | null;
  readonly isComplete: boolean;
  /** Whether the scan ended before the newest block, so that the recent poll no longer dates new transfers. */
  readonly isBrokenOff: boolean;
}

/**
 * Records how far the chain is watched. It is the last step of a tick, so that no payment expires before every
 * transfer that could have paid it is recorded.
 * @throws LeaseLost.
 */
export async function recordProgress(
  { chain, lease }: Watcher,
  { heads, polledAt }: Round,
  { finalUntil, through, expiresUntil, isComplete, isBrokenOff }: Reached,
): Promise<void> {
  const { coverage } = chain;
  const isByPoll = coverage !== 'blocks';
  const polledUntil = coverage === 'final-poll' ? finalUntil : polledAt;
  const covered =
    through === undefined || polledUntil === null || (isByPoll && !isComplete)
      ? null
      : coveredUntil(chain, heads, polledUntil, through);
  await lease.write((tx, { watched_until: watched, expires_until: expires }) =>
    updateChain(tx, chain.id, {
      head_height: heads.tip.height,
      final_height: heads.finalHeight,
      ...(isComplete ? { polled_at: polledAt } : isBrokenOff ? { polled_at: null } : {}),
      watched_until: later(watched, covered),
      expires_until: later(expires, coverage === 'poll' ? covered : expiresUntil),
    }),
  );
}

/** The later of two times: progress never goes back, even if a node reports an older block later. null leaves it. */
export function later(former: Date | null, reached: Date | null): Date | null {
  return reached === null || (former !== null && former > reached) ? former : reached;
}
