import { eachAlone } from '../missing-items.ts';
import { BLOCK_TIMEOUT_MS, LaggingNode, type Node, type NodeFailure } from '../nodes/node.ts';
import { inParts } from '../ranges.ts';
import { type Fields, failure, toFields, toList } from '../responses.ts';
import type { Block } from '../transfer.ts';
import { readOrFailure } from '../unreadable.ts';
import { requireBlock, toAddressOrNull, toAmount, toHash, toParameter } from './responses.ts';

/** Headers that are asked for in one batch. */
const HEADERS_PER_BATCH = 100;

/** Whole blocks that are asked for in one batch. */
export const BLOCKS_PER_BATCH = 20;

export interface WholeBlock extends Block {
  /** As the node has sent them: one that cannot be read must not stop the others. */
  readonly transactions: readonly unknown[];
  /** As the node has sent them; undefined in blocks from before withdrawals existed. */
  readonly withdrawals: unknown;
  /** The block as the node has sent it. */
  readonly fields: Fields;
}

/** The call for the header of a block. */
export function headerCall(height: number) {
  return { method: 'eth_getBlockByNumber', params: [toParameter(height), false] };
}

/** Reads the headers of these heights. */
export async function readHeaders(node: Node, heights: readonly number[]): Promise<Block[]> {
  const responses = await node.batch(heights.map(headerCall));
  return heights.map((height, index) => requireBlock(node, responses[index], height));
}

/** Reads headers by their heights. One that cannot be read is replaced by its failure. */
export async function readEachHeader(
  node: Node,
  heights: readonly number[],
): Promise<Map<number, Block | NodeFailure>> {
  const headers = new Map<number, Block | NodeFailure>();
  for (const together of inParts(heights, HEADERS_PER_BATCH)) {
    const responses = eachAlone(node, await node.batch(together.map(headerCall)));
    for (const [index, height] of together.entries()) {
      const response = responses[index] ?? new LaggingNode(`${node.label} has no block ${height}`);
      const isLagging = response instanceof LaggingNode;
      const read = () => requireBlock(node, response, height);
      headers.set(height, isLagging ? response : readOrFailure(read));
    }
  }
  return headers;
}

export async function readHeader(node: Node, height: number): Promise<Block> {
  return requireBlock(node, (await node.batch([headerCall(height)]))[0], height);
}

/**
 * Reads blocks with their transactions.
 * @param isWhole Whether the transactions are whole; otherwise only their hashes are read.
 */
export async function readWholeBlocks(
  node: Node,
  heights: readonly number[],
  isWhole = true,
): Promise<WholeBlock[]> {
  const calls = heights.map(height => ({
    method: 'eth_getBlockByNumber',
    params: [toParameter(height), isWhole],
  }));
  const responses = await node.batch(calls, { timeoutMs: BLOCK_TIMEOUT_MS });
  return heights.map((height, index) => {
    const block = requireBlock(node, responses[index], height);
    return toWholeBlock(node, block, responses[index]);
  });
}

/**
 * @param value The block as the node has sent it.
 * @throws NodeFailure
 */
export function toWholeBlock(node: Node, block: Block, value: unknown): WholeBlock {
  const fields = toFields(node, value, 'a block');
  const transactions = toList(node, fields.transactions, 'the transactions of a block');
  return { ...block, withdrawals: fields.withdrawals, transactions, fields };
}

/**
 * A top-level transaction of a block: addresses in lower case, no recipient if it creates a contract, and
 * the value in wei.
 * @throws NodeFailure
 */
export function toTransaction(node: Node, value: unknown) {
  const fields = toFields(node, value, 'a transaction');
  return {
    hash: toHash(node, fields.hash, 'the hash of a transaction'),
    to: toAddressOrNull(node, fields.to, 'the recipient of a transaction'),
    from: toAddressOrNull(node, fields.from, 'the sender of a transaction'),
    value: toAmount(node, fields.value, 'the value of a transaction'),
  };
}

/**
 * The recipient of a transaction, in lower case; null if it creates a contract. Besides, only the hash is
 * checked: transactions of strangers may be of an unknown kind.
 * @throws NodeFailure
 */
export function recipientOf(node: Node, value: unknown): string | null {
  const { hash, to } = toFields(node, value, 'a transaction');
  toHash(node, hash, 'the hash of a transaction');
  return toAddressOrNull(node, to, 'the recipient of a transaction');
}

/** The hash of a transaction whose other fields may be unreadable; null if it has none. */
export function hashOrNull(
  value: unknown,
  name: 'hash' | 'transactionHash' | 'txHash',
): string | null {
  const hash = (value as Fields | null | undefined)?.[name];
  return typeof hash === 'string' && /^0x[0-9a-f]{64}$/i.test(hash) ? hash.toLowerCase() : null;
}

export function byHeight(blocks: readonly Block[]): Map<number, Block> {
  return new Map(blocks.map(block => [block.height, block]));
}

/**
 * Checks that blocks follow one another.
 * @param parentHash Hash of the block before the first; null if it is not known.
 * @throws NodeFailure for a gap: the node has changed to another branch meanwhile.
 */
export function requireChain(
  node: Node,
  blocks: readonly Block[],
  parentHash: string | null | undefined,
): void {
  let expected = parentHash || null;
  for (const block of blocks) {
    if (expected !== null && block.parentHash !== expected) {
      throw failure(node, `block ${block.height} is on another branch`);
    }
    expected = block.hash;
  }
}
