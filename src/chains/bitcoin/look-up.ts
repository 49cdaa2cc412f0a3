import type { Node, RpcError } from '../../nodes/node.ts';
import type { LookUpRequest, TransactionReport } from '../adapter.ts';
import { PrunedBlock } from '../pruned-block.ts';
import {
  askHeader,
  failure,
  isNotFound,
  isPruned,
  orThrow,
  parsing,
  property,
  toCount,
  toHash,
  toText,
} from './answers.ts';
import { askBlock, askHash } from './blocks.ts';
import { findSpender, isUnspent, wasSpentInChain } from './spending.ts';
import { parseTransaction, type Transaction } from './transaction.ts';
import { transfersOf, type WatchedScripts } from './watched-scripts.ts';

/** Times to begin again because a block arrived in between. */
const ATTEMPTS_MAXIMUM = 3;

/** Outputs of a transaction that are looked for among the unspent ones. */
const OUTPUTS_MAXIMUM = 8;

/** Blocks that are searched on a node without an index: those that a branch may replace. */
const SEARCHED_BLOCKS = 12;

/** What a node has of a transaction. `blockHash` is null in the mempool. */
interface Found {
  readonly transaction: Transaction;
  readonly blockHash: string | null;
  readonly isActive: boolean;
}

/** No such transaction. Without an index that says nothing about blocks. */
interface Missing {
  readonly isIndexed: boolean;
}

/**
 * What became of a transaction. A node with `txindex=1` knows each one; another one finds those in the
 * block that the request names, those with an unspent output, and those of the last blocks.
 * @throws NodeFailure if the node cannot tell: then nothing is known, and the transaction may be in a block.
 */
export async function lookUpTransaction(
  node: Node,
  request: LookUpRequest,
  watched: WatchedScripts,
): Promise<TransactionReport> {
  for (let attempt = 1; attempt <= ATTEMPTS_MAXIMUM; attempt += 1) {
    const tip = await askTip(node);
    const report = await lookUpAt(node, request, watched, tip);
    // Absence has been put together from several answers, which have to be of one chain.
    const isPresent = report?.status === 'included' || report?.status === 'pending';
    if (report !== undefined && (isPresent || tip === (await askTip(node)))) return report;
  }
  throw failure(node, 'blocks arrive faster than a transaction can be looked for');
}

async function askTip(node: Node): Promise<string> {
  return toHash(node, await node.call('getbestblockhash', []), 'the hash of the newest block');
}

/** @returns undefined if the answers do not fit together. */
async function lookUpAt(
  node: Node,
  { transactionHash: id, blockHash, inputs }: LookUpRequest,
  watched: WatchedScripts,
  tip: string,
): Promise<TransactionReport | undefined> {
  const hinted = blockHash === null ? undefined : await askInBlock(node, id, blockHash);
  if (hinted?.isActive) return report(node, hinted, watched);
  const answer = await askTransaction(node, id);
  if ('transaction' in answer && (answer.isActive || answer.blockHash === null)) {
    return report(node, answer, watched);
  }
  // With an index, a transaction of another branch is found in that branch, and known not to be in ours.
  const stale = 'transaction' in answer ? answer : hinted;
  const isIndexed = !('isIndexed' in answer) || answer.isIndexed;
  const spent = inputs ?? stale?.transaction.inputs ?? null;
  // A coinbase exists in its own block only.
  if (stale?.transaction.isCoinbase) return { status: 'unknown' };

  const spender = await findSpender(node, spent ?? []);
  if (spender === id) return undefined;
  if (spender !== null) return { status: 'replaced' };
  if (isIndexed) {
    const isSpent = await wasSpentInChain(node, spent ?? []);
    return { status: isSpent ? 'replaced' : 'unknown' };
  }
  return lookUpWithoutIndex(node, id, spent, watched, tip);
}

async function lookUpWithoutIndex(
  node: Node,
  id: string,
  inputs: readonly string[] | null,
  watched: WatchedScripts,
  tip: string,
): Promise<TransactionReport | undefined> {
  const hash = await findByUnspentOutput(node, id);
  if (hash !== null) {
    const found = await askInBlock(node, id, hash);
    return found?.isActive ? report(node, found, watched) : undefined;
  }
  // What it spends is unspent, so it is in no block.
  if (inputs !== null && (await isUnspent(node, inputs))) return { status: 'unknown' };
  const found = await searchBlocks(node, id, new Set(inputs), tip);
  if (found === 'replaced') return { status: 'replaced' };
  if (found !== undefined) return report(node, found, watched);
  throw failure(
    node,
    `cannot tell whether transaction ${id} is in a block: the node needs txindex=1`,
  );
}

async function report(
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
  const { height, hash, time } = block;
  const transfers = transfersOf(transaction, watched, { height, hash, time });
  return { status: 'included', block, transfers, foreign: [] };
}

/** @returns undefined if the block is unknown or does not contain it. */
async function askInBlock(node: Node, id: string, hash: string): Promise<Found | undefined> {
  const [answer] = await node.batch([{ method: 'getrawtransaction', params: [id, true, hash] }]);
  if (isNotFound(answer)) return undefined;
  if (isPruned(answer)) throw new PrunedBlock(`${node.label}: block ${hash} is pruned`);
  return {
    transaction: readTransaction(node, id, orThrow(answer)),
    blockHash: hash,
    isActive: property(answer, 'in_active_chain') === true,
  };
}

async function askTransaction(node: Node, id: string): Promise<Found | Missing> {
  const [answer] = await node.batch([{ method: 'getrawtransaction', params: [id, true] }]);
  if (isNotFound(answer)) return { isIndexed: isIndexed(answer) };
  const transaction = readTransaction(node, id, orThrow(answer));
  const hash = property(answer, 'blockhash');
  if (hash === undefined) return { transaction, blockHash: null, isActive: false };
  return {
    transaction,
    blockHash: toHash(node, hash, 'the hash of a block'),
    isActive: toCount(node, property(answer, 'confirmations') ?? 0, 'the confirmations') > 0,
  };
}

/** Whether the node looked through its blocks before it said that there is no such transaction. */
function isIndexed(error: RpcError): boolean {
  return /\bmempool or blockchain transaction\b/.test(error.message);
}

/**
 * Whether the node finds any transaction by its ID alone (`txindex=1`).
 * @throws RpcError, NodeFailure
 */
export async function hasIndex(node: Node): Promise<boolean> {
  // No transaction has this ID.
  const [answer] = await node.batch([
    { method: 'getrawtransaction', params: ['f'.repeat(64), true] },
  ]);
  return isNotFound(answer) && isIndexed(answer);
}

function readTransaction(node: Node, id: string, answer: unknown): Transaction {
  const hex = toText(node, property(answer, 'hex'), 'a transaction');
  const transaction = parsing(node, `transaction ${id}`, () => parseTransaction(hex));
  if (transaction.id !== id) throw failure(node, `transaction ${id} is ${transaction.id}`);
  return transaction;
}

/** The block of a transaction of which one of the first outputs is unspent; null if there is none. */
async function findByUnspentOutput(node: Node, id: string): Promise<string | null> {
  const answers = await node.batch(
    Array.from({ length: OUTPUTS_MAXIMUM }, (_, index) => ({
      method: 'gettxout',
      params: [id, index, false],
    })),
  );
  const output = answers.find(answer => orThrow(answer) !== null);
  if (output === undefined) return null;
  const best = toHash(node, property(output, 'bestblock'), 'the hash of the newest block');
  const header = await askHeader(node, best);
  const depth = toCount(node, property(output, 'confirmations'), 'the confirmations');
  return header === null ? null : askHash(node, header.height - depth + 1);
}

/** Goes through the last blocks for the transaction, or for another one that spends the same. */
async function searchBlocks(
  node: Node,
  id: string,
  inputs: ReadonlySet<string>,
  tip: string,
): Promise<Found | 'replaced' | undefined> {
  let hash = tip;
  for (let count = 0; count < SEARCHED_BLOCKS; count += 1) {
    const { transactions, parentHash } = await askBlock(node, hash);
    const transaction = transactions.find(each => each.id === id);
    if (transaction !== undefined) return { transaction, blockHash: hash, isActive: true };
    if (transactions.some(each => each.inputs.some(input => inputs.has(input)))) return 'replaced';
    if (/^0+$/.test(parentHash)) break;
    hash = parentHash;
  }
  return undefined;
}
