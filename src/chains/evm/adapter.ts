import { type Node, ResponseTooLarge, RpcError } from '../../nodes/node.ts';
import type { ChainAdapter } from '../adapter.ts';
import type { Chain } from '../chain-list.ts';
import { readHeads, readHeight } from './heads.ts';
import { createInternalTransfers } from './internal.ts';
import { createLogRanges } from './log-query.ts';
import { lookUpTransactions } from './look-up.ts';
import { ReceiptMemory } from './receipt-memory.ts';
import { toAmount, toBlock, toParameter } from './responses.ts';
import { scanBlocks } from './scan.ts';
import { readTokenDecimals } from './token-decimals.ts';

/** Calls of one batch; providers that take fewer refuse a batch, and are then asked one by one. */
const BATCH = 50;
/** A node without the states of old blocks keeps fewer: go-ethereum 128. */
const OLD_BLOCKS = 1_000;
const NOBODY = '0x0000000000000000000000000000000000000000';

/**
 * Reads Ethereum and the chains like it, over the standard JSON-RPC. Keeps how wide a query each node
 * takes, and receipts for the second look.
 */
export function createEvmAdapter(chain: Chain): ChainAdapter {
  const memory = { ranges: createLogRanges(), receipts: new ReceiptMemory() };
  const internal = createInternalTransfers();

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
        archive: await responses(node, 'eth_getBalance', [NOBODY, old]),
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
      const [report] = await lookUpTransactions(node, [request], internal);
      return report ?? { status: 'unknown' };
    },

    lookUpAll: (node, requests) => lookUpTransactions(node, requests, internal),

    internal,
  };
}

async function findTraceMethod(node: Node, height: string) {
  const tracer = { tracer: 'callTracer' };
  if (await responses(node, 'debug_traceBlockByNumber', [height, tracer])) {
    return 'debug_traceBlockByNumber' as const;
  }
  return (await responses(node, 'trace_block', [height])) ? ('trace_block' as const) : null;
}

async function responses(node: Node, method: string, params: readonly unknown[]): Promise<boolean> {
  try {
    await node.call(method, params, { mayBeTooLarge: true });
    return true;
  } catch (error) {
    if (error instanceof ResponseTooLarge) return true;
    if (error instanceof RpcError) return false;
    throw error;
  }
}
