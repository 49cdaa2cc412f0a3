import type { ChainAdapter } from '#chains/adapter.ts';
import { chainOf, isChainId } from '#chains/chain-list.ts';
import { isSettled, parseFinality, requiredBlocks } from '#chains/finality.ts';
import { type Node, NodeFailure } from '#chains/nodes/node.ts';
import type { WatchedAddress } from '#chains/transfer.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { Network } from '#storage/database/network-tables.ts';
import type { ChainState } from '#storage/database/watching-tables.ts';
import { findChain } from '#storage/repositories/chains/chains.ts';
import { hasUnexplainedInflow } from '#storage/repositories/chains/findings.ts';
import { askedSince } from '../loop/record-seen.ts';
import { type FoundTransfer, rescanMissing, withDeposits } from './found-transfers.ts';

/**
 * The state of a transaction on its chain:
 * - `unknown`: the node knows no such transaction
 * - `pending`: it waits in the mempool, and pays a watched address; on EVM chains it may pay any
 * - `included`: it is in a block and pays a watched address, but is not final yet
 * - `final`: like `included`, and deep enough
 * - `failed`: it is in a block, without effect
 * - `replaced`: another transaction has spent what it spends
 * - `other_asset`: it pays a watched address in another token or on another network of the chain
 * - `other_address`: it pays no watched address
 * - `untraceable`: a contract may have paid a watched address, but the node cannot trace; there is a finding
 */
export type Verdict =
  | 'unknown'
  | 'pending'
  | 'included'
  | 'final'
  | 'failed'
  | 'replaced'
  | 'other_asset'
  | 'other_address'
  | 'untraceable';

export interface TransactionOnChain {
  readonly verdict: Verdict;
  /** Blocks from its own to the newest, both included; 0 outside of a block. */
  readonly confirmations: number;
  /** Blocks after which it is final; `final` is the chain's own finality. */
  readonly required: number | 'final';
  /** Time of its block; null outside of one. */
  readonly occurredAt: Date | null;
  /** Transfers to watched addresses, also of the chain's other networks. */
  readonly transfers: readonly FoundTransfer[];
}

export interface LookUpQuestion {
  /** The network that is asked about; a node settles its payments. */
  readonly network: Network;
  /** As the chain writes it. */
  readonly transactionHash: string;
  /** Addresses of interest, of this network and of others on its chain. */
  readonly watch: readonly WatchedAddress[];
  /** What the payment asks for, in cents; null without a payment. */
  readonly cents: number | null;
  /** Blocks before this time are not scanned again, and their transfers are not weighed; null for no limit. */
  readonly since: Date | null;
  /** Recorded as the author of a rescan. */
  readonly askedBy: string;
  readonly now: Date;
}

/** The node to ask, bound to its abort signal, and the adapter of its chain. */
export interface AskedNode {
  readonly adapter: Pick<ChainAdapter, 'lookUp' | 'readMempool'>;
  readonly node: Node;
}

/**
 * Looks up a transaction on its chain. It credits nothing: if a transfer to a watched address is in a block but not
 * in the ledger, the block is scanned again, once.
 * @throws NodeFailure, also for a transaction that cannot be read, RpcError, and RangeError for a network whose chain
 * is unknown.
 */
export async function lookUpOnChain(
  db: Connection,
  asked: AskedNode,
  question: LookUpQuestion,
): Promise<TransactionOnChain> {
  const { network, transactionHash, cents, now } = question;
  if (!isChainId(network.chain)) throw new RangeError(`there is no chain ${network.chain}`);
  const chain = await findChain(db, network.chain);
  if (chain === undefined) throw new RangeError(`there is no chain ${network.chain}`);
  const facts = chainOf(network.chain);
  const since = (madeAt: Date) => askedSince({ chain: facts, clock: () => now.getTime() }, madeAt);
  const rule = parseFinality(network.finality ?? facts.finality);
  const required = requiredBlocks(rule, cents);
  const report = await asked.adapter.lookUp(asked.node, {
    transactionHash,
    watch: question.watch,
    inputs: null,
    blockHash: null,
  });
  if (report.status === 'unreadable') throw new NodeFailure(report.detail);
  const outside = { confirmations: 0, required, occurredAt: null, transfers: [] };
  if (report.status === 'unknown' || report.status === 'replaced') {
    return { ...outside, verdict: report.status };
  }
  if (report.status === 'pending') {
    const transfers = await withDeposits(db, transactionHash, report.transfers, {
      since: since(now),
    });
    // Where an adapter reads no mempool, the transfers of a pending transaction are not known yet.
    const isKnown = transfers.length > 0 || asked.adapter.readMempool !== undefined;
    const verdict = isKnown ? verdictOf(transfers, network, 'pending') : 'pending';
    return { ...outside, transfers, verdict };
  }
  const { block } = report;
  const confirmations = depthOf(block.height, chain);
  const inBlock = { confirmations, required, occurredAt: block.time };
  if (report.status === 'failed') return { ...inBlock, transfers: [], verdict: 'failed' };
  const isRecent = question.since === null || block.time >= question.since;
  const within = isRecent ? { since: since(block.time), madeBy: block.time } : null;
  const transfers = await withDeposits(db, transactionHash, report.transfers, within);
  if (isRecent) {
    await rescanMissing(db, question, transfers, block.height);
  }
  const isFinal = chain.final_height !== null && chain.final_height >= block.height;
  const settled = isSettled(rule, { cents, depth: confirmations, isFinal });
  const verdict = verdictOf(transfers, network, settled ? 'final' : 'included');
  if (verdict !== 'other_address') return { ...inBlock, transfers, verdict };
  const { trace } = asked.node.abilities;
  if (trace === null && (await isUntraceable(db, question, block.height))) {
    return { ...inBlock, transfers, verdict: 'untraceable' };
  }
  return { ...inBlock, transfers, verdict: report.foreign.length > 0 ? 'other_asset' : verdict };
}

/** Uses the watcher's newest block, which is a few seconds old, to save a call. */
function depthOf(height: number, { head_height: head }: ChainState): number {
  return Math.max(1, (head ?? height) - height + 1);
}

function verdictOf(
  transfers: readonly FoundTransfer[],
  { id }: Network,
  arrived: 'pending' | 'included' | 'final',
): Verdict {
  if (transfers.some(({ blockchainId }) => blockchainId === id)) return arrived;
  return transfers.length > 0 ? 'other_asset' : 'other_address';
}

/** Whether there is an unexplained rise of a watched balance in the transaction's block or a later one. */
function isUntraceable(
  db: Connection,
  { network, watch }: LookUpQuestion,
  height: number,
): Promise<boolean> {
  const native = watch.filter(each => each.network.contract === null);
  const addresses = native.map(({ address }) => address);
  return hasUnexplainedInflow(db, network.chain, addresses, height);
}
