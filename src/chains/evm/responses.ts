import { LaggingNode, type Node } from '../nodes/node.ts';
import { failure, orThrow, toFields, toMatch } from '../responses.ts';
import type { Block } from '../transfer.ts';
import { OtherResponse } from '../unreadable.ts';

const QUANTITY = /^0x(0|[1-9a-f][0-9a-f]{0,63})$/i;
const HASH = /^0x[0-9a-f]{64}$/i;
const ADDRESS = /^0x[0-9a-f]{40}$/i;

/** A quantity: hex with 0x and without leading zeros. */
export function toAmount(node: Node, value: unknown, what: string): bigint {
  return BigInt(toMatch(node, value, QUANTITY, what, 'quantity'));
}

/** A quantity that is a safe integer. */
export function toCount(node: Node, value: unknown, what: string): number {
  const amount = toAmount(node, value, what);
  if (amount > BigInt(Number.MAX_SAFE_INTEGER)) throw failure(node, `${what} is too large`);
  return Number(amount);
}

/** 32 bytes, in lower case. */
export function toHash(node: Node, value: unknown, what: string): string {
  return toMatch(node, value, HASH, what, 'hash').toLowerCase();
}

/** 20 bytes, in lower case; null for the creation of a contract. */
export function toAddressOrNull(node: Node, value: unknown, what: string): string | null {
  if (value === null || value === undefined) return null;
  return toMatch(node, value, ADDRESS, what, 'address').toLowerCase();
}

/** A height as a parameter of a call. */
export function toParameter(height: number): string {
  return `0x${height.toString(16)}`;
}

/**
 * The header of a block; null if the node has none.
 * @param height The requested height; null if the block was not requested by its height.
 */
export function toBlock(node: Node, value: unknown, height: number | null): Block | null {
  if (value === null || value === undefined) return null;
  const fields = toFields(node, value, 'a block');
  const block = {
    height: toCount(node, fields.number, 'the number of a block'),
    hash: toHash(node, fields.hash, 'the hash of a block'),
    parentHash: toHash(node, fields.parentHash, 'the parent of a block'),
    time: new Date(toCount(node, fields.timestamp, 'the time of a block') * 1_000),
  };
  if (height !== null && block.height !== height) {
    throw new OtherResponse(`${node.label}: block ${block.height} came for ${height}`);
  }
  return block;
}

/** Like `toBlock`, for a block that the node must have. */
export function requireBlock(node: Node, value: unknown, height: number): Block {
  const block = toBlock(node, orThrow(value), height);
  if (block === null) throw new LaggingNode(`${node.label} has no block ${height}`);
  return block;
}
