import type { ChainAdapter } from '#chains/adapter.ts';
import type { Chain } from '#chains/chain-list.ts';
import type { NodeSet, NodeSetOptions } from '#chains/nodes/node-set.ts';
import { openNodeSet } from '#chains/nodes/open-node-set.ts';
import { findChain } from '#storage/repositories/chains/chains.ts';
import { verifyIdentity } from './verify-identity.ts';

interface ChainNodesOptions
  extends Pick<
    NodeSetOptions,
    'db' | 'keyring' | 'clock' | 'logger' | 'reports' | 'requestsPerSecond'
  > {
  /** Refuses nodes of private chains. */
  readonly isProduction: boolean;
  /** Whether the nodes are opened for a few calls only. Then nodes that are not in use are not polled. */
  readonly isBrief?: true;
}

/** The nodes of a chain, each verified before it is used. */
export function openChainNodes(
  chain: Chain,
  adapter: ChainAdapter,
  { isProduction, isBrief, ...options }: ChainNodesOptions,
): NodeSet {
  return openNodeSet({
    ...options,
    chain: chain.id,
    staleHeadMs: chain.staleHeadMs,
    blockMs: chain.blockMs,
    async verify(node) {
      const identity = (await findChain(options.db, chain.id))?.identity ?? null;
      await verifyIdentity(adapter, chain, node, { identity, isProduction });
    },
    ...(isBrief ? {} : { readHeight: node => adapter.readHeight(node) }),
    hasBlock: async (node, height) => (await adapter.readBlock(node, height)) !== null,
  });
}
