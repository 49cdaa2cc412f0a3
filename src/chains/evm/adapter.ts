import type { ChainAdapter } from '../adapter.ts';
import type { Chain } from '../chain-list.ts';
import { type Node, ResponseTooLarge, RpcError } from '../nodes/node.ts';
import { readHeads, readHeight } from './heads.ts';
import { createHoldings } from './holdings.ts';
import { createInternalTransfers } from './internal.ts';
import { lookUpTransactions } from './look-up.ts';
import { proveTransfers } from './proven-transfers.ts';
import { toAmount, toBlock, toParameter } from './responses.ts';
import { createScanMemory, scanBlocks } from './scan.ts';
import { readTokenDecimals } from './token-decimals.ts';

/** Calls of one batch; a provider that accepts fewer refuses it, and then gets smaller batches. */
const BATCH = 50;
/** Age of a block, in blocks, whose state only an archive node has: go-ethereum keeps 128. */
const OLD_BLOCKS = 1_000;
const ZERO_ADDRESS = '0x0000000000000000000000000000000000000000';

/**
 * Reads Ethereum and the chains like it by the standard JSON-RPC. Remembers how many blocks each node accepts in one
 * query, receipts for the second scan, and which nodes cannot return the receipts of whole blocks.
 */
export function createEvmAdapter(chain: Chain): ChainAdapter {
  const memory = createScanMemory();

  return {
    async identify(node) {
      return toAmount(node, await node.call('eth_chainId', []), 'the chain ID').toString();
    },

    async probe(node) {
      const height = await readHeight(node);
      const old = toParameter(Math.max(0, height - OLD_BLOCKS));
      return {
        trace: await findTraceMethod(node, toParameter(height)),
        logRange: null,
        batch: BATCH,
        archive: await supports(node, 'eth_getBalance', [ZERO_ADDRESS, old]),
        pruneHeight: null,
      };
    },

    readDecimals: readTokenDecimals,

    async readHeads(node, cursorHeight) {
      const heads = await readHeads(node, cursorHeight);
      return chain.tipIsFinal ? { ...heads, finalHeight: heads.tip.height } : heads;
    },

    readHeight,

    async readBlock(node, height) {
      const response = await node.call('eth_getBlockByNumber', [toParameter(height), false]);
      return toBlock(node, response, height);
    },

    scan: (node, request) => scanBlocks(node, request, chain, memory),

    async lookUp(node, request) {
      const [report] = await lookUpTransactions(node, [request]);
      return report ?? { status: 'unknown' };
    },

    lookUpAll: lookUpTransactions,

    proveTransfers: (node, block, watch) => proveTransfers(node, block, watch, memory.proven),

    internal: createInternalTransfers(memory.misses),
    holdings: createHoldings(memory.ranges),
  };
}

async function findTraceMethod(node: Node, height: string) {
  const tracer = { tracer: 'callTracer' };
  if (await supports(node, 'debug_traceBlockByNumber', [height, tracer])) {
    return 'debug_traceBlockByNumber' as const;
  }
  return (await supports(node, 'trace_block', [height])) ? ('trace_block' as const) : null;
}

/** Whether a node has a method and the data for it; a result that is too large counts as support. */
async function supports(node: Node, method: string, params: readonly unknown[]): Promise<boolean> {
  try {
    await node.call(method, params, { mayBeTooLarge: true });
    return true;
  } catch (error) {
    if (error instanceof ResponseTooLarge) return true;
    if (error instanceof RpcError) return false;
    throw error;
  }
}
