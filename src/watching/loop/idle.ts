import type { Heads } from '../../chains/adapter.ts';
import type { ChainState } from '../../database/watching-tables.ts';
import { addToRing, trimRing } from '../../repositories/chain-blocks.ts';
import { updateChain } from '../../repositories/chains.ts';
import type { Watcher } from '../watcher.ts';

/** How often a chain on which nothing is watched is asked for its newest block, in milliseconds. */
export const IDLE_POLL_MS = 30_000;

/**
 * Moves the cursor of a chain on which nothing is watched to where the newest block was at the poll
 * before: whoever chooses the network next is covered, and nothing has to be scanned.
 * @param heads With the hash of the block that was the newest one then.
 */
export async function moveIdleCursor(
  { chain, lease }: Watcher,
  { head_height: former }: ChainState,
  { cursorHash, finalHeight, tip }: Heads,
  polledAt: Date,
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
