import type { Node } from '#chains/nodes/node.ts';
import type { ChainState } from '#storage/database/watching-tables.ts';
import { type ChainProgress, updateChain } from '#storage/repositories/chains/chains.ts';
import type { Watcher } from '../watcher.ts';

/**
 * Halts a chain, which withdraws its networks from customers and calls an operator. A chain that is halted already is
 * not reported again.
 */
export async function halt(
  { chain, lease, log }: Watcher,
  node: Node,
  state: ChainState,
  reason: string,
  progress: ChainProgress = {},
): Promise<void> {
  if (state.halted === null) {
    log.error({ chain: chain.id, node: node.label }, `chain halted: ${reason}`);
  }
  await lease.write(tx => updateChain(tx, chain.id, { ...progress, halted: reason }));
}
