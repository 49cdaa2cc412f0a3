import { type Node, NodeFailure, type RpcError } from '../nodes/node.ts';
import { PrunedBlock } from '../pruned-block.ts';
import { orThrow } from '../responses.ts';
import { readOrFailure } from '../unreadable.ts';
import { askHash } from './blocks.ts';
import {
  askHeader,
  isNotFound,
  isPruned,
  property,
  readTransaction,
  toCount,
  toHash,
} from './responses.ts';
import type { Transaction } from './transaction.ts';

/** A transaction that a node has found. */
export interface Found {
  readonly transaction: Transaction;
  /** The block that contains it, of the best chain or of another one; null in the mempool. */
  readonly blockHash: string | null;
  readonly isActive: boolean;
}

/** The node has found no such transaction. Without an index it has not searched its blocks. */
export interface Missing {
  readonly transaction: null;
  readonly isIndexed: boolean;
}

/** How many outputs of a transaction are looked for among the unspent ones. */
const OUTPUTS_MAXIMUM = 8;

/** Looks in the mempool and, with an index, in the blocks of every branch. */
export async function askTransaction(node: Node, id: string): Promise<Found | Missing> {
  const [response] = await node.batch([{ method: 'getrawtransaction', params: [id, true] }]);
  if (isNotFound(response)) return { transaction: null, isIndexed: isIndexed(response) };
  const transaction = readFound(node, id, orThrow(response));
  const hash = property(response, 'blockhash');
  if (hash === undefined) return { transaction, blockHash: null, isActive: false };
  return {
    transaction,
    blockHash: toHash(node, hash, 'the hash of a block'),
    isActive: toCount(node, property(response, 'confirmations') ?? 0, 'the confirmations') > 0,
  };
}

/**
 * Looks in one block.
 * @returns undefined if the block is unknown or does not contain it.
 * @throws PrunedBlock, UnreadableTransaction
 */
export async function askInBlock(node: Node, id: string, hash: string): Promise<Found | undefined> {
  const [response] = await node.batch([{ method: 'getrawtransaction', params: [id, true, hash] }]);
  if (isNotFound(response)) return undefined;
  if (isPruned(response)) throw new PrunedBlock(`${node.label}: block ${hash} is pruned`);
  return {
    transaction: readFound(node, id, orThrow(response)),
    blockHash: hash,
    isActive: property(response, 'in_active_chain') === true,
  };
}

/** The block of a transaction, found by an unspent one of its first outputs; null if none is unspent. */
export async function askBlockOfUnspent(node: Node, id: string): Promise<string | null> {
  const responses = await node.batch(
    Array.from({ length: OUTPUTS_MAXIMUM }, (_, index) => ({
      method: 'gettxout',
      params: [id, index, false],
    })),
  );
  const output = responses.find(response => orThrow(response) !== null);
  if (output === undefined) return null;
  const best = toHash(node, property(output, 'bestblock'), 'the hash of the newest block');
  const header = await askHeader(node, best);
  const depth = toCount(node, property(output, 'confirmations'), 'the confirmations');
  return header === null ? null : askHash(node, header.height - depth + 1);
}

/**
 * Whether the node finds any transaction by its ID alone (`txindex=1`).
 * @throws RpcError, NodeFailure
 */
export async function hasIndex(node: Node): Promise<boolean> {
  // No transaction has this ID.
  const found = await askTransaction(node, 'f'.repeat(64));
  return found.transaction === null && found.isIndexed;
}

/** Whether the node looked through its blocks before it said that there is no such transaction. */
function isIndexed(error: RpcError): boolean {
  return /\bmempool or blockchain transaction\b/.test(error.message);
}

/** The node has the transaction, but it cannot be read. */
export class UnreadableTransaction extends NodeFailure {
  override name = 'UnreadableTransaction';
}

function readFound(node: Node, id: string, response: unknown): Transaction {
  const transaction = readOrFailure(() => readTransaction(node, id, property(response, 'hex')));
  if (transaction instanceof NodeFailure) throw new UnreadableTransaction(transaction.message);
  return transaction;
}
