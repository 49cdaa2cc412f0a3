import type { LookUpRequest, TransactionReport } from '../adapter.ts';
import { type Dependent, dependenciesOf, isKin } from '../conflicts.ts';
import type { Node } from '../nodes/node.ts';
import { failure } from '../responses.ts';
import {
  askBlockOfUnspent,
  askInBlock,
  askTransaction,
  type Found,
  UnreadableTransaction,
} from './find-transaction.ts';
import type { RecentBlocks } from './recent-blocks.ts';
import { askHeader, toHash } from './responses.ts';
import { askUnspent, findSpenders, onlyConfirmed } from './spending.ts';
import { transfersOf, type WatchedScripts } from './watched-scripts.ts';

/** Attempts at a look-up, which starts over if a block arrives in between. */
const ATTEMPTS_MAXIMUM = 3;

/** A transaction to look for, and what the search needs. */
interface Sought extends Dependent {
  readonly watched: WatchedScripts;
  readonly recent: RecentBlocks;
}

/**
 * The state of a transaction. A node with `txindex=1` finds every transaction. Without it, a node finds only those in
 * the block of the request, those with an unspent output and, by the inputs of the request, those in the last blocks.
 *
 * `replaced` needs proof: another transaction in the mempool, or in a block that was read here, spends what it spends,
 * or what an ancestor spends. `unknown` means neither in the mempool nor in a block; without an index, a transaction
 * whose first outputs are all spent may still be in a block before the last 12.
 * @throws NodeFailure if the node has no index and the request no inputs: the transaction may be in a block.
 */
export async function lookUpTransaction(
  node: Node,
  request: LookUpRequest,
  watched: WatchedScripts,
  recent: RecentBlocks,
): Promise<TransactionReport> {
  try {
    return await lookUp(node, request, watched, recent);
  } catch (error) {
    if (!(error instanceof UnreadableTransaction)) throw error;
    return { status: 'unreadable', detail: error.message };
  }
}

async function lookUp(
  node: Node,
  request: LookUpRequest,
  watched: WatchedScripts,
  recent: RecentBlocks,
): Promise<TransactionReport> {
  const { transactionHash: id, blockHash } = request;
  const placed = blockHash === null ? undefined : await askInBlock(node, id, blockHash);
  const report = placed?.isActive ? await toReport(node, placed, watched) : undefined;
  if (report !== undefined) return report;
  const inputs = request.inputs ?? placed?.transaction.inputs ?? null;
  const sought = { id, inputs, ancestry: request.ancestry ?? null, watched, recent };
  for (let attempt = 1; attempt <= ATTEMPTS_MAXIMUM; attempt += 1) {
    const report = await lookUpOnce(node, sought);
    if (report !== undefined) return report;
  }
  throw failure(node, `its responses about transaction ${id} do not fit together`);
}

/** @returns undefined if the chain changed between the responses, or they contradict each other. */
async function lookUpOnce(node: Node, sought: Sought): Promise<TransactionReport | undefined> {
  const tip = await askTip(node);
  const found = await askTransaction(node, sought.id);
  if (found.transaction !== null && (found.isActive || found.blockHash === null)) {
    return toReport(node, found, sought.watched);
  }
  const inputs = sought.inputs ?? found.transaction?.inputs ?? null;
  // Only an index knows a transaction of another branch.
  const isIndexed = found.transaction !== null || found.isIndexed;
  const report = await explainAbsence(node, { ...sought, inputs }, isIndexed, tip);
  // Absence follows from several responses, which must all be about the same chain.
  return report?.status === 'included' || tip === (await askTip(node)) ? report : undefined;
}

async function askTip(node: Node): Promise<string> {
  return toHash(node, await node.call('getbestblockhash', []), 'the hash of the newest block');
}

/** The report on a transaction that is not in the mempool and, if the node has an index, in no block. */
async function explainAbsence(
  node: Node,
  sought: Sought,
  isIndexed: boolean,
  tip: string,
): Promise<TransactionReport | undefined> {
  const { id, inputs, ancestry, watched, recent } = sought;
  const spenders = await findSpenders(node, dependenciesOf(sought));
  if (spenders.includes(id)) return undefined;
  if (spenders.some(spender => !isKin(spender, sought))) return { status: 'replaced' };
  const unspentIn = isIndexed ? null : await askBlockOfUnspent(node, id);
  if (unspentIn !== null) return reportFrom(node, id, unspentIn, watched);
  // A coinbase is in no other block, and must not be spent for a hundred blocks: it would have been found.
  if (inputs?.length === 0) return { status: 'unknown' };

  const unspent = await askUnspent(node, inputs ?? []);
  // If the transaction were in a block, all its inputs would be spent.
  const isNowhere = !isIndexed && unspent.includes(true);
  const gone = isNowhere ? [] : (inputs ?? []).filter((_, index) => unspent[index] === false);
  // An output that was never in a block is not among the unspent ones either, without being spent.
  const spent = [...(isIndexed ? await onlyConfirmed(node, gone) : gone), ...(ancestry ?? [])];
  const found = spent.length === 0 ? undefined : await recent.search(node, tip, sought, spent);
  if (found === 'spent') return { status: 'replaced' };
  if (found !== undefined) return reportFrom(node, id, found.hash, watched);
  if (isIndexed || inputs !== null) return { status: 'unknown' };
  throw failure(node, `cannot say whether transaction ${id} is in a block without txindex=1`);
}

async function reportFrom(
  node: Node,
  id: string,
  blockHash: string,
  watched: WatchedScripts,
): Promise<TransactionReport | undefined> {
  const found = await askInBlock(node, id, blockHash);
  return found?.isActive ? toReport(node, found, watched) : undefined;
}

async function toReport(
  node: Node,
  { transaction, blockHash }: Found,
  watched: WatchedScripts,
): Promise<TransactionReport | undefined> {
  if (blockHash === null) {
    return { status: 'pending', transfers: transfersOf(transaction, watched, null) };
  }
  const header = await askHeader(node, blockHash);
  if (!header?.isActive) return undefined;
  const { isActive: _, ...block } = header;
  const transfers = transfersOf(transaction, watched, block);
  return { status: 'included', block, transfers, foreign: [] };
}
