import type { Chain } from '#chains/chain-list.ts';
import type { Look } from '#chains/nodes/daily-quota.ts';
import type { Block } from '#chains/transfer.ts';
import type { ChainState } from '#storage/database/watching-tables.ts';
import { addToRing, trimRing } from '#storage/repositories/chains/blocks.ts';
import { updateChain } from '#storage/repositories/chains/chains.ts';
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
 * A look at a chain, with its usual pause and the longest one that a daily quota may impose. With open payments the
 * longest pause is a third of the allowed lag: reading the blocks takes time too.
 */
export function lookAt({ pauseMs, offeredLagMs }: Chain, kind: Look['kind']): Look {
  return kind === 'idle'
    ? { kind, ownMs: IDLE_POLL_MS, longestMs: (offeredLagMs * 2) / 3 }
    : { kind, ownMs: pauseMs, longestMs: offeredLagMs / 3 };
}

/** Follows the head of a chain on which nothing is watched, without reading its blocks. */
interface IdleWatch {
  /** @throws NodeFailure, LeaseLost. */
  run(round: Round): Promise<'more' | 'nothing'>;
  /** To be called when something is watched. */
  reset(): void;
}

export function createIdleWatch(
  watcher: Watcher,
  { mempool, rescan }: { readonly mempool: Mempool; readonly rescan: Rescans },
): IdleWatch {
  const { chain, clock, db, lease, watchList } = watcher;
  /** The newest block of the previous look. */
  let newest: Block | undefined;

  return {
    async run(round) {
      const { state, node, heads, polledAt } = round;
      const { tip } = heads;
      // Since the watch list was last read, a customer may have been asked to pay, and have paid.
      if ((await watchList.read(db, new Date(clock()))).length > 0) return 'more';
      const isOther = newest?.height === state.head_height && newest?.hash !== heads.cursorHash;
      if (newest !== undefined && isOther) await requireSameChain(watcher, node, state);
      newest = tip;
      if (state.cursor_height === null) await placeCursor(watcher, round);
      await moveCursor(watcher, round);
      await mempool.read(round, []);
      const isRescanning = await rescan(round);
      const covered = coveredUntil(chain, heads, polledAt, tip);
      // No amount is reserved, so no payment waits for a second look.
      await lease.write((tx, { watched_until: watched, expires_until: expires }) =>
        updateChain(tx, chain.id, {
          watched_until: later(watched, covered),
          expires_until: later(expires, covered),
        }),
      );
      return isRescanning ? 'more' : 'nothing';
    },
    reset() {
      newest = undefined;
    },
  };
}

/**
 * Moves the cursor to the newest block of the previous poll, without a scan: a customer who chooses the network from
 * now on cannot have paid in an earlier block. The heads contain the hash of that block.
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

/** Whether a chain on which nothing is watched was polled less than `IDLE_POLL_MS` ago. */
export function wasPolled({ polled_at: polledAt }: ChainState, now: number): boolean {
  return polledAt !== null && Math.abs(now - polledAt.getTime()) < IDLE_POLL_MS;
}
