import { refusedAlone } from '../missing-items.ts';
import { LaggingNode, type Node, type NodeCall, NodeFailure, RpcError } from '../nodes/node.ts';
import { failure, toFields, toList, toMatch, toNatural } from '../responses.ts';
import type { Block } from '../transfer.ts';
import { readOrFailure } from '../unreadable.ts';

/** The commitment at which transfers are first seen: two thirds of the stake have voted for the block. */
export const CONFIRMED = { commitment: 'confirmed' } as const;
export const FINALIZED = { commitment: 'finalized' } as const;
export type Commitment = typeof CONFIRMED | typeof FINALIZED;

/** The highest version of a transaction that is read; the node refuses to show one of a higher version. */
export const VERSION_MAXIMUM = 1;
/** The code of that refusal (Agave, rpc-client-api custom_error.rs). */
const UNSUPPORTED_VERSION = -32015;

/** Whether a node has a transaction whose version is not read here. */
export const isUnsupported = (response: unknown): response is RpcError =>
  response instanceof RpcError && response.code === UNSUPPORTED_VERSION;

/** A slot in which no block was made, or whose block the node does not keep (Agave, rpc-client-api custom_error.rs). */
const SKIPPED = [-32007, -32009];
const CLEANED_UP = -32001;
/** The node has reached the slot, but does not have its block yet. */
const NOT_YET = [-32004, -32014];
/**
 * A server that lags: it has no such block yet, is unhealthy, or has not reached `minContextSlot`; or it could not
 * reach the storage of old blocks.
 */
const LAGGING = [-32004, -32005, -32014, -32016, -32019];

/** Whether another server may have the result. */
export function isLagging(response: unknown): response is RpcError {
  return response instanceof RpcError && LAGGING.includes(response.code);
}

/**
 * A result of a batch.
 * @throws LaggingNode if another server may have the result, RpcError for any other error of the node.
 */
export function orThrow(node: Node, response: unknown): unknown {
  if (!(response instanceof RpcError)) return response;
  if (!isLagging(response)) throw response;
  throw new LaggingNode(`${node.label}: ${response.message}`, { cause: response });
}

const BASE58 = /^[1-9A-HJ-NP-Za-km-z]{32,88}$/;

export function toText(node: Node, value: unknown, what: string): string {
  return toMatch(node, value, BASE58, what, 'base58 text');
}

export function toSlot(node: Node, value: unknown, what: string): number {
  return toNatural(node, value, what, 'slot');
}

/** The `value` of a response with a context, and the slot at which it was read. */
export function toValue(node: Node, response: unknown, what: string) {
  const { context, value } = toFields(node, response, what);
  const { slot } = toFields(node, context, `the context of ${what}`);
  return { slot: toSlot(node, slot, `the context of ${what}`), value };
}

/** A call of `getBlock`: only for its header unless more is requested. */
export function blockCall(
  slot: number,
  transactionDetails: 'none' | 'accounts' = 'none',
  commitment: Commitment = CONFIRMED,
) {
  const options = {
    ...commitment,
    transactionDetails,
    rewards: false,
    maxSupportedTransactionVersion: VERSION_MAXIMUM,
  };
  return { method: 'getBlock', params: [slot, options] };
}

/** Why a slot has no block: none was made in it, or the node has deleted it. */
export type WithoutBlock = 'skipped' | 'gone';

/**
 * The block of a slot, from the response to `getBlock`.
 * @returns null if the node has none yet.
 */
export function toSlotBlock(
  node: Node,
  response: unknown,
  slot: number,
): Block | WithoutBlock | null {
  if (response instanceof RpcError) {
    if (response.code === CLEANED_UP) return 'gone';
    if (SKIPPED.includes(response.code)) return 'skipped';
    if (NOT_YET.includes(response.code)) return null;
  }
  orThrow(node, response);
  if (response === null || response === undefined) return null;
  const fields = toFields(node, response, 'a block');
  const time = fields.blockTime;
  if (!Number.isSafeInteger(time)) throw failure(node, 'a block has no time');
  return {
    height: slot,
    hash: toText(node, fields.blockhash, 'the hash of a block'),
    parentHash: toText(node, fields.previousBlockhash, 'the parent of a block'),
    time: new Date(Number(time) * 1_000),
  };
}

/** How many slots before or after a slot are searched for a block: more are skipped only in an outage. */
const LOOKED_BACK = 500;

/** The block of a slot or, if that was skipped, the one before it; null above the newest. */
export async function readBlockAt(node: Node, slot: number): Promise<Block | null> {
  const [own] = await node.batch([blockCall(slot)]);
  const block = toSlotBlock(node, own, slot);
  if (block === 'gone') throw new NodeFailure(`${node.label} keeps no block of slot ${slot}`);
  if (block !== null && block !== 'skipped') return block;
  if (block === 'skipped') await requireSkipped(node, slot, false);
  const params = [Math.max(0, slot - LOOKED_BACK), slot, CONFIRMED];
  const slots = toList(node, await askOne(node, { method: 'getBlocks', params }), 'slots');
  const last = slots.at(-1);
  if (last === undefined) return null;
  const before = toSlot(node, last, 'a slot');
  const found = toSlotBlock(node, (await node.batch([blockCall(before)]))[0], before);
  return typeof found === 'string' ? null : found;
}

/**
 * Makes sure that no block was made in a slot that a node reports as skipped or missing: a server that was started
 * from a later snapshot also reports slots with blocks that way. If none was made, the parent of the next block is
 * before this slot.
 * @param isBelowNewest Whether the node must have a later block, without which the slot cannot be judged.
 * @throws LaggingNode if that cannot be known.
 */
export async function requireSkipped(
  node: Node,
  slot: number,
  isBelowNewest: boolean,
): Promise<void> {
  const params = [slot + 1, slot + LOOKED_BACK, CONFIRMED];
  const [next] = toList(node, await askOne(node, { method: 'getBlocks', params }), 'slots');
  if (next === undefined && !isBelowNewest) return;
  const above =
    next === undefined ? {} : await askOne(node, blockCall(toSlot(node, next, 'a slot')));
  const { parentSlot = slot } = toFields(node, above, 'a block');
  if (toSlot(node, parentSlot, 'the slot of a parent') < slot) return;
  throw new LaggingNode(
    `${node.label} has no block of slot ${slot}, in which one may have been made`,
  );
}

/** @throws LaggingNode, RpcError */
async function askOne(node: Node, call: NodeCall): Promise<unknown> {
  const [response] = await node.batch([call]);
  return orThrow(node, response);
}

/**
 * Blocks by their slots. A block that cannot be read is replaced by its failure: a LaggingNode if the node does not
 * have it.
 * @throws NodeFailure
 */
export async function readBlocksAt(
  node: Node,
  slots: readonly number[],
  commitment: Commitment = CONFIRMED,
): Promise<Map<number, Block | NodeFailure>> {
  const distinct = [...new Set(slots)];
  const calls = distinct.map(slot => blockCall(slot, 'none', commitment));
  const responses = calls.length === 0 ? [] : await node.batch(calls);
  const blocks = new Map<number, Block | NodeFailure>();
  for (const [index, slot] of distinct.entries()) {
    blocks.set(slot, blockOrFailure(node, responses[index], slot));
  }
  return blocks;
}

function blockOrFailure(node: Node, response: unknown, slot: number): Block | NodeFailure {
  try {
    const block = readOrFailure(() => toSlotBlock(node, response, slot));
    if (block === 'gone') return new NodeFailure(`${node.label} keeps no block of slot ${slot}`);
    if (block !== null && block !== 'skipped') return block;
    return new LaggingNode(`${node.label} has no block of slot ${slot}`);
  } catch (error) {
    if (error instanceof LaggingNode) return error;
    if (error instanceof RpcError) return refusedAlone(node, error);
    throw error;
  }
}
