import { type Node, RpcError } from '../nodes/node.ts';
import { failure, orThrow, toMatch, toNatural } from '../responses.ts';
import type { Block } from '../transfer.ts';
import { OtherResponse } from '../unreadable.ts';
import { MalformedBytes } from './byte-reader.ts';
import { parseTransaction, type Transaction } from './transaction.ts';

// Error codes of a node (Bitcoin Core, src/rpc/protocol.h): errors without a code of their own, an unknown hash,
// a height above the newest block.
const MISCELLANEOUS = -1;
const NOT_FOUND = -5;
const OUT_OF_RANGE = -8;

const HASH = /^[0-9a-f]{64}$/;

/** A block's header, and whether it belongs to the best chain. */
export interface Header extends Block {
  readonly isActive: boolean;
}

export const isNotFound = (response: unknown): response is RpcError =>
  response instanceof RpcError && response.code === NOT_FOUND;

/** The height is above the newest block, or not valid, which is an error without a code of its own. */
export const isOutOfRange = (response: unknown): response is RpcError =>
  response instanceof RpcError &&
  (response.code === OUT_OF_RANGE ||
    (response.code === MISCELLANEOUS && response.message === 'JSON integer out of range'));

/**
 * The node had the block, and has deleted it to save space. Only the message shows it: `getblock` has
 * the longer one, `getrawtransaction` the shorter one.
 */
export const isPruned = (response: unknown): response is RpcError =>
  response instanceof RpcError &&
  response.code === MISCELLANEOUS &&
  /^Block not available( \(pruned data\))?$/.test(response.message);

/** A property of a response; undefined if the response has none. */
export function property(response: unknown, name: string): unknown {
  if (typeof response !== 'object' || response === null || !Object.hasOwn(response, name)) {
    return undefined;
  }
  return (response as Record<string, unknown>)[name];
}

/** @throws NodeFailure */
export function toHash(node: Node, response: unknown, what: string): string {
  return toMatch(node, response, HASH, what, 'hash');
}

/** @throws NodeFailure */
export function toText(node: Node, response: unknown, what: string): string {
  if (typeof response === 'string') return response;
  throw failure(node, `${what} is not text`);
}

/** @throws NodeFailure */
export function toCount(node: Node, response: unknown, what: string): number {
  return toNatural(node, response, what);
}

/**
 * Parses a transaction in hex.
 * @throws NodeFailure if it cannot be parsed, OtherResponse if it is another transaction.
 */
export function readTransaction(node: Node, id: string, hex: unknown): Transaction {
  const transaction = parsing(node, `transaction ${id}`, () =>
    parseTransaction(toText(node, hex, `transaction ${id}`)),
  );
  if (transaction.id !== id) {
    throw new OtherResponse(`${node.label}: transaction ${id} is ${transaction.id}`);
  }
  return transaction;
}

/** @throws NodeFailure for malformed bytes; `what` names what they are. */
export function parsing<T>(node: Node, what: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof MalformedBytes) {
      throw failure(node, `${what} is malformed: ${error.message}`, error);
    }
    throw error;
  }
}

/**
 * The header of a block, of the best chain or of another one.
 * @returns null if the node has no such block.
 */
export async function askHeader(node: Node, hash: string): Promise<Header | null> {
  const [response] = await node.batch([{ method: 'getblockheader', params: [hash, true] }]);
  if (isNotFound(response)) return null;
  return toHeader(node, orThrow(response), hash);
}

function toHeader(node: Node, response: unknown, hash: string): Header {
  if (property(response, 'hash') !== hash) throw failure(node, `block ${hash} is another one`);
  const height = toCount(node, property(response, 'height'), 'the height of a block');
  const seconds = toCount(node, property(response, 'time'), 'the time of a block');
  const parent = property(response, 'previousblockhash');
  // The first block has none.
  const parentHash =
    height === 0 ? '0'.repeat(64) : toHash(node, parent, 'the hash of a parent block');
  // -1 on another branch (Bitcoin Core, src/rpc/blockchain.cpp).
  const confirmations = property(response, 'confirmations');
  const isActive = typeof confirmations === 'number' && confirmations > 0;
  return { height, hash, parentHash, time: new Date(seconds * 1_000), isActive };
}
