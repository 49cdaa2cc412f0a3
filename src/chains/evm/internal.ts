import type { InternalTransfers, Traced } from '../internal-transfers.ts';
import type { MissingItems } from '../missing-items.ts';
import { BLOCK_TIMEOUT_MS, type Node, NodeFailure, RpcError } from '../nodes/node.ts';
import { orThrow, toFields, toList } from '../responses.ts';
import { type Block, transferTo, type WatchedAddress } from '../transfer.ts';
import { readBalances } from './balances.ts';
import { asNodeError } from './log-query.ts';
import { readMovements } from './movements.ts';
import { requireBlock, toCount, toHash, toParameter } from './responses.ts';
import { readCallTracer, readTraceBlock, type TracedMoves } from './traces.ts';
import { indexWatched } from './watched.ts';

/** The node's own timeout of a trace; go-ethereum's default is 5 s. */
const TRACER = { tracer: 'callTracer', timeout: '25s' };
/** How far behind the newest block every node still has the state: go-ethereum keeps 128. */
const STATE_KEPT = 100;

/**
 * Values that calls, creations and self-destructs of contracts brought to watched addresses, unless a frame
 * around them failed; and the value of a transaction that creates a contract at one. The position is 1 plus the
 * index among all moves of the transaction, the same with every tracer.
 * @returns null if the node does not trace, or does not trace this block any more, or the trace is too large.
 * @throws NodeFailure
 */
export async function trace(
  node: Node,
  height: number,
  watch: readonly WatchedAddress[],
): Promise<Traced | null> {
  const { native } = indexWatched(watch);
  if (node.abilities.trace === null) return null;
  if (native.size === 0) return { transfers: [], unread: new Set() };
  const traced = await traceBlock(node, height, node.abilities.trace);
  if (traced === null) return null;
  const transfers = traced.moves.flatMap(({ transactionHash, index, to, value: tokenAmount }) => {
    const watched = native.get(to);
    const arrived = { transactionHash, position: 1 + index, tokenAmount, block: traced.block };
    return watched === undefined ? [] : [transferTo(watched, arrived)];
  });
  return { transfers, unread: traced.unread };
}

/** Finds what contracts send in the native asset of Ethereum and the chains like it. */
export function createInternalTransfers(misses: MissingItems): InternalTransfers {
  return {
    readBalances,
    readMovements: (node, height, addresses) => readMovements(node, height, addresses, misses),
    trace,
  };
}

async function traceBlock(
  node: Node,
  height: number,
  method: 'debug_traceBlockByNumber' | 'trace_block',
): Promise<(TracedMoves & { readonly block: Block }) | null> {
  const at = toParameter(height);
  const params = method === 'trace_block' ? [at] : [at, TRACER];
  const [header, traces] = await node.batch(
    [
      { method: 'eth_getBlockByNumber', params: [at, false] },
      { method, params, mayBeTooLarge: true },
    ],
    { timeoutMs: BLOCK_TIMEOUT_MS },
  );
  const block = requireBlock(node, header, height);
  if (traces instanceof RpcError) return refused(node, height, traces);
  const fields = toFields(node, orThrow(header), 'a block');
  const transactions = toList(node, fields.transactions, 'the transactions of a block');
  const hashes = transactions.map(each => toHash(node, each, 'the hash of a transaction'));
  const traced =
    method === 'trace_block'
      ? readTraceBlock(node, traces, block, hashes)
      : readCallTracer(node, traces, hashes);
  return { block, ...traced };
}

/**
 * A server without the state of a new block lags, so the trace is requested again later. The state of an old block is
 * gone for good, and any other refusal would be repeated.
 */
async function refused(node: Node, height: number, error: RpcError): Promise<null> {
  const failure = asNodeError(node, error);
  if (!(failure instanceof NodeFailure)) return null;
  const newest = toCount(node, await node.call('eth_blockNumber', []), 'the newest block');
  if (newest - height <= STATE_KEPT) throw failure;
  return null;
}
