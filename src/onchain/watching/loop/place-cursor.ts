import type { Node } from '#chains/nodes/node.ts';
import type { Block } from '#chains/transfer.ts';
import { addToRing, cutRing } from '#storage/repositories/chains/blocks.ts';
import { updateChain } from '#storage/repositories/chains/chains.ts';
import { findOldestReservation } from '#storage/repositories/chains/watch-list.ts';
import { LATE_FOR_MS } from '#time/late-window.ts';
import { findBlockAt, requireBlock } from '../find-block.ts';
import type { Watcher } from '../watcher.ts';
import type { Round } from './round.ts';
import { ringEntry } from './scan.ts';

/** If a chain was read within this time, in milliseconds, reading goes on at its cursor. */
const READ_LATELY_MS = 10 * 60_000;

/**
 * Moves the cursor to where scanning has to begin: before the oldest reservation that a transfer may be for. Older
 * blocks are skipped, since nothing was watched at their time.
 * @returns Whether the cursor was moved.
 * @throws NodeFailure, LeaseLost.
 */
export async function placeCursor(
  watcher: Watcher,
  { node, state, heads: { tip, finalHeight } }: Round,
): Promise<boolean> {
  const { adapter, chain, clock, db, lease } = watcher;
  const now = clock();
  const { cursor_height: cursor, polled_at: polledAt } = state;
  const lately = polledAt !== null && Math.abs(now - polledAt.getTime()) <= READ_LATELY_MS;
  if (cursor !== null && lately) return false;
  const oldest = await findOldestReservation(db, chain.id, new Date(now - LATE_FOR_MS));
  const since = Math.min(oldest?.getTime() ?? now, now) - chain.clockSkewMs;
  // Between slow blocks the time of the newest one may be estimated too early (Solana).
  const newest = await requireBlock(adapter, node, tip.height);
  const begin = await findBlockAt(adapter, node, new Date(since), newest);
  if (cursor !== null && begin.height <= cursor) return false;
  const root = cursor === null ? await findRoot(watcher, node, begin, finalHeight) : undefined;
  await lease.write(async tx => {
    if (root !== undefined) {
      await cutRing(tx, chain.id, -1);
      await addToRing(tx, ringEntry(chain.id, root));
    }
    await addToRing(tx, ringEntry(chain.id, begin));
    await updateChain(tx, chain.id, {
      cursor_height: begin.height,
      cursor_hash: begin.hash,
      swept_height: begin.height,
    });
  });
  return true;
}

/** The first entry of a new ring: no branch begins below it. */
function findRoot(
  { adapter, chain }: Watcher,
  node: Node,
  begin: Block,
  finalHeight: number | null,
): Promise<Block> {
  const height = Math.min(begin.height, finalHeight ?? begin.height - chain.ring);
  return requireBlock(adapter, node, Math.max(0, height));
}
