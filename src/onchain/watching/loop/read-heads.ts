import type { Heads } from '#chains/adapter.ts';
import { HEAD_LEEWAY } from '#chains/nodes/head-history.ts';
import { type Node, NodeFailure } from '#chains/nodes/node.ts';
import type { Watcher } from '../watcher.ts';

/** How far this machine's clock may be behind, in milliseconds: as far as signed requests allow. */
const CLOCK_MAY_LAG_MS = 5 * 60_000;

/**
 * Asks a node for its newest block, and checks that it is plausible: the node is one of the chain on every connection
 * that may have responded, it has blocks near that height, and the block's time is not in the future.
 * @param cursorHeight Block whose hash is asked for as well; null for none.
 * @param listsMempool Whether the list of the mempool is taken as well (Bitcoin).
 * @throws NodeFailure, RpcError, or the signal's reason if it is aborted.
 */
export async function readHeads(
  { adapter, chain, clock, nodes }: Watcher,
  node: Node,
  cursorHeight: number | null,
  signal: AbortSignal,
  listsMempool = false,
): Promise<Heads> {
  const heads = await adapter.readHeads(node, cursorHeight, listsMempool);
  const { tip, finalHeight } = heads;
  if (finalHeight !== null && finalHeight > tip.height + HEAD_LEEWAY) {
    throw new NodeFailure(
      `${node.label} shows block ${finalHeight} as final, and ${tip.height} as its newest`,
    );
  }
  const latest = clock() + chain.clockSkewMs + CLOCK_MAY_LAG_MS;
  // Negated, so that an invalid time (NaN) is refused as well.
  if (!(tip.time.getTime() <= latest)) {
    throw new NodeFailure(`${node.label}: the time of its newest block ${tip.height} is to come`);
  }
  await nodes.acceptHead(node.id, tip.height, signal);
  // Servers behind one URL may each answer a part of the request, and one of them may lag.
  return finalHeight === null
    ? heads
    : { ...heads, finalHeight: Math.min(finalHeight, tip.height) };
}
