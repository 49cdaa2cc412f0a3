import type { Chain } from '../../chains/chain-list.ts';
import type { Block } from '../../chains/transfer.ts';
import type { ChainState } from '../../database/watching-tables.ts';
import type { Look } from '../../nodes/daily-quota.ts';
import { addToRing, trimRing } from '../../repositories/chains/blocks.ts';
import { updateChain } from '../../repositories/chains/chains.ts';
import type { Watcher } from '../watcher.ts';
import { coveredUntil } from './coverage.ts';
import type { Mempool } from './mempool.ts';
import { placeCursor } from './place-cursor.ts';
import { later } from './record-progress.ts';
import { requireSameChain } from './reorganise.ts';
import type { Rescans } from './rescan.ts';
import type { Round } from './round.ts';

/** How often a chain on which nothing is watched is asked for its newest block, in milliseconds. */
export const IDLE_POLL_MS = 30_000;

/**
 * A look at a chain, as a daily quota has to allow for it. Blocks are read some time after the head was asked
 * for, so with open payments more than half of the lag is left for that.
 */
export function lookAt({ pauseMs, offeredLagMs }: Chain, kind: Look['kind']): Look {
  return kind === 'idle'
    ? { kind, ownMs: IDLE_POLL_MS, longestMs: (offeredLagMs * 2) / 3 }
    : { kind, ownMs: pauseMs, longestMs: offeredLagMs / 3 };
}

/** Follows the head of a chain on which nothing is watched, without reading its blocks. */
export interface IdleWatch {
  /** @throws NodeFailure, LeaseLost. */
  run(round: Round): Promise<'more' | 'nothing'>;
  /** To be called when something is watched. */
  isOver(): void;
}

export function createIdleWatch(
  watcher: Watcher,
  { mempool, rescans }: { readonly mempool: Mempool; readonly rescans: Rescans },
): IdleWatch {
  const { chain, clock, db, lease, watchList } = watcher;
  /** The newest block that the look before was told of. */
  let told: Block | undefined;

  return {
    async run(round) {
      const { state, node, heads, polledAt } = round;
      const { tip } = heads;
      // Somebody may have been asked to pay since, and have paid.
      if ((await watchList.read(db, new Date(clock()))).length > 0) return 'more';
      const isOther = told?.height === state.head_height && told?.hash !== heads.cursorHash;
      if (told !== undefined && isOther) await requireSameChain(watcher, node, state);
      told = tip;
      if (state.cursor_height === null) await placeCursor(watcher, round);
      await moveCursor(watcher, round);
      await mempool.read(round, []);
      const isRescanning = await rescans.run(round);
      await lease.write((tx, { watched_until: former }) =>
        updateChain(tx, chain.id, {
          watched_until: later(former, coveredUntil(chain, heads, polledAt, tip)),
        }),
      );
      return isRescanning ? 'more' : 'nothing';
    },
    isOver() {
      told = undefined;
    },
  };
}

/**
 * Moves the cursor to where the newest block was at the poll before: whoever chooses the network next is
 * covered, and nothing has to be scanned. The heads come with the hash of the block that was the newest then.
 */
async function moveCursor(
  { chain, lease }: Watcher,
  { state: { head_height: former }, heads: { cursorHash, finalHeight, tip }, polledAt }: Round,
): Promise<void> {
  await lease.write(async (tx, { cursor_height: cursor }) => {
    const moves = former !== null && cursorHash != null && former > (cursor ?? -1);
    if (moves) {
      await addToRing(tx, { chain: chain.id, height: former, hash: cursorHash, at: polledAt });
      await trimRing(tx, chain.id, chain.ring, finalHeight);
    }
    await updateChain(tx, chain.id, {
      ...(moves ? { cursor_height: former, cursor_hash: cursorHash, swept_height: former } : {}),
      head_height: tip.height,
      final_height: finalHeight,
      polled_at: polledAt,
    });
  });
}

/** Whether a chain on which nothing is watched was asked so lately that nothing has to be asked now. */
export function wasPolled({ polled_at: polledAt }: ChainState, now: number): boolean {
  return polledAt !== null && Math.abs(now - polledAt.getTime()) < IDLE_POLL_MS;
}
