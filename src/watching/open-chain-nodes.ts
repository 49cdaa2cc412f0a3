import type { ChainAdapter } from '../chains/adapter.ts';
import type { Chain } from '../chains/chain-list.ts';
import { rpcOf } from '../chains/tron/spelling.ts';
import type { ChainFamily } from '../database/watching-tables.ts';
import { type Node, NodeFailure } from '../nodes/node.ts';
import { type NodeSet, type NodeSetOptions, openNodeSet } from '../nodes/node-set.ts';
import { findChain } from '../repositories/chains.ts';
import { verifyIdentity } from './verify-identity.ts';

interface ChainNodesOptions
  extends Pick<
    NodeSetOptions,
    'db' | 'keyring' | 'clock' | 'logger' | 'reports' | 'requestsPerSecond'
  > {
  /** Refuses nodes of private chains. */
  readonly isProduction: boolean;
}

/** The nodes of a chain, each verified to be one of it before it is asked. */
export function openChainNodes(
  chain: Chain,
  adapter: ChainAdapter,
  { isProduction, ...options }: ChainNodesOptions,
): NodeSet {
  return openNodeSet({
    ...options,
    chain: chain.id,
    staleHeadMs: chain.staleHeadMs,
    async verify(node) {
      const identity = (await findChain(options.db, chain.id))?.identity ?? null;
      await verifyIdentity(adapter, chain, node, { identity, isProduction });
    },
    readHeight: node => readHeight(node, chain.family),
  });
}

/** The cheapest call for a node's newest block: nodes that are not in use are asked for it all the time. */
const HEIGHT_CALLS: Readonly<Record<ChainFamily, string>> = {
  bitcoin: 'getblockcount',
  evm: 'eth_blockNumber',
  solana: 'getSlot',
  tron: 'eth_blockNumber',
};

async function readHeight(node: Node, family: ChainFamily): Promise<number> {
  const own = family === 'tron' ? rpcOf(node) : node;
  const height = Number(await own.call(HEIGHT_CALLS[family], []));
  if (Number.isSafeInteger(height) && height >= 0) return height;
  throw new NodeFailure(`${node.label}: the height of its newest block is no number`);
}
