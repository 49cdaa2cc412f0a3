import type { ChainAdapter } from '#chains/adapter.ts';
import { type Node, NodeFailure } from '#chains/nodes/node.ts';
import type { Block } from '#chains/transfer.ts';

/** Reads a block that the node must have. */
export async function requireBlock(
  adapter: ChainAdapter,
  node: Node,
  height: number,
): Promise<Block> {
  const block = await adapter.readBlock(node, height);
  if (block === null) throw new NodeFailure(`${node.label} has no block ${height}`);
  return block;
}

/**
 * The last block that was made at `time` or before; the chain's first one if all are younger. Goes back
 * from the newest in steps that double, then bisects.
 */
export async function findBlockAt(
  adapter: ChainAdapter,
  node: Node,
  time: Date,
  tip: Block,
): Promise<Block> {
  let low = tip;
  let high = tip.height + 1;
  for (let step = 1; low.time > time && low.height > 0; step *= 2) {
    high = low.height;
    low = await requireBlock(adapter, node, Math.max(0, low.height - step));
  }
  while (high - low.height > 1) {
    const height = Math.floor((low.height + high) / 2);
    const middle = await requireBlock(adapter, node, height);
    // On Solana, a height may have no block. The block before it may then be the lower bound itself.
    if (middle.time > time) high = middle.height;
    else if (middle.height > low.height) low = middle;
    else high = height;
  }
  return low;
}
