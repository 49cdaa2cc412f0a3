import { type Node, NodeFailure } from '../../nodes/node.ts';
import type { Block } from '../adapter.ts';
import { type Fields, toFields, toList } from '../answers.ts';
import { toAddressOrNull, toAmount, toHash } from './answers.ts';

/** Value that a frame of a transaction has moved. */
export interface InternalMove {
  readonly transactionHash: string;
  /**
   * Place among the moves of the transaction, depth first and from 0. Frames that move nothing are not
   * counted, as nodes differ in which of them they tell: calls of precompiled contracts, and calls that
   * fail before they begin.
   */
  readonly place: number;
  /** In lower case. */
  readonly to: string;
  /** In wei, more than 0. */
  readonly value: bigint;
}

/** A frame that moves value, in whatever format the node traces. */
interface Transfer {
  readonly from: string | null;
  readonly to: string | null;
  readonly value: bigint;
  /** Whether it is the value of the transaction itself, which the scan of blocks finds. */
  readonly isTopLevel: boolean;
}

/** Calls that have a value of their own; DELEGATECALL and CALLCODE move nothing to another address. */
const CALL_FRAMES = new Set(['CALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT']);
/** Names of the end of a contract: that of Parity, and the younger one. */
const ENDS = new Set(['suicide', 'selfdestruct']);

/**
 * The answer to `debug_traceBlockByNumber` with `callTracer`, whose frames contain their calls.
 * @param transactions Hashes of the block's transactions, in their order.
 * @returns null if the node gave up on one of them, for example because it took too long.
 * @throws NodeFailure for traces of other transactions.
 */
export function readCallTracer(
  node: Node,
  answer: unknown,
  transactions: readonly string[],
): InternalMove[] | null {
  const traces = toList(node, answer, 'the trace of a block');
  if (traces.length !== transactions.length) {
    throw new NodeFailure(`${node.label}: the trace of a block is that of another one`);
  }
  const all = traces.map(each => toFields(node, each, 'the trace of a transaction'));
  if (all.some(({ error }) => error !== undefined && error !== null)) return null;
  return all.flatMap((fields, index) => {
    const transactionHash = transactions[index] ?? '';
    // Older nodes do not tell the hash, but keep the order.
    const named = fields.txHash ?? transactionHash;
    if (toHash(node, named, 'the transaction of a trace') !== transactionHash) {
      throw new NodeFailure(`${node.label}: a trace came for another transaction`);
    }
    const root = toFields(node, fields.result, 'the trace of a transaction');
    return number(transactionHash, [...walkCalls(node, root, true)]);
  });
}

/** Frames depth first. What fails takes back what it has called. */
function* walkCalls(node: Node, frame: Fields, isRoot: boolean): Generator<Transfer> {
  if (frame.error !== undefined && frame.error !== null) return;
  const type = String(frame.type).toUpperCase();
  if (CALL_FRAMES.has(type)) {
    yield {
      from: toAddressOrNull(node, frame.from, 'the sender of a frame'),
      to: toAddressOrNull(node, frame.to, 'the recipient of a frame'),
      value: toAmount(node, frame.value ?? '0x0', 'the value of a frame'),
      isTopLevel: isRoot && type === 'CALL',
    };
  }
  for (const call of toList(node, frame.calls ?? [], 'the calls of a frame')) {
    yield* walkCalls(node, toFields(node, call, 'a frame'), false);
  }
}

/**
 * The answer to `trace_block`: frames of all transactions in one list, depth first, with rewards behind.
 * @param transactions Hashes of the block's transactions.
 * @throws NodeFailure for frames of another block, and where a transaction has none: a backend without the
 * block may answer an empty list.
 */
export function readTraceBlock(
  node: Node,
  answer: unknown,
  block: Pick<Block, 'height' | 'hash'>,
  transactions: readonly string[],
): InternalMove[] {
  const frames = new Map<string, Fields[]>();
  for (const each of toList(node, answer, 'the trace of a block')) {
    const frame = toFields(node, each, 'a frame');
    if (toHash(node, frame.blockHash, 'the block of a frame') !== block.hash) {
      throw new NodeFailure(`${node.label}: a trace came of another block than ${block.height}`);
    }
    // Rewards belong to no transaction.
    if (frame.transactionHash === null || frame.transactionHash === undefined) continue;
    const hash = toHash(node, frame.transactionHash, 'the transaction of a frame');
    const own = frames.get(hash);
    if (own === undefined) frames.set(hash, [frame]);
    else own.push(frame);
  }
  return transactions.flatMap(hash => {
    const own = frames.get(hash);
    if (own === undefined) {
      throw new NodeFailure(
        `${node.label}: the trace of block ${block.height} lacks a transaction`,
      );
    }
    return number(hash, transfersOf(node, own));
  });
}

function transfersOf(node: Node, frames: readonly Fields[]): Transfer[] {
  /** Places of frames that failed, each with a separator behind it, so that those inside begin with it. */
  const failed: string[] = [];
  return frames.flatMap(frame => {
    const path = toList(node, frame.traceAddress, 'the place of a frame');
    const place = path.map(index => `${index},`).join('');
    if (frame.error !== undefined && frame.error !== null) failed.push(place);
    if (failed.some(each => place.startsWith(each))) return [];
    const transfer = toTransfer(node, frame, path.length === 0);
    return transfer === undefined ? [] : [transfer];
  });
}

function toTransfer(node: Node, frame: Fields, isRoot: boolean): Transfer | undefined {
  const action = toFields(node, frame.action, 'the action of a frame');
  const address = (value: unknown) => toAddressOrNull(node, value, 'an address of a frame');
  const amount = (value: unknown) => toAmount(node, value, 'the value of a frame');
  const type = String(frame.type);
  if (type === 'call') {
    if (action.callType !== undefined && action.callType !== 'call') return undefined;
    const [from, to] = [address(action.from), address(action.to)];
    return { from, to, value: amount(action.value), isTopLevel: isRoot };
  }
  if (type === 'create') {
    const result = toFields(node, frame.result, 'the result of a creation');
    const [from, to] = [address(action.from), address(result.address)];
    return { from, to, value: amount(action.value), isTopLevel: false };
  }
  if (!ENDS.has(type)) return undefined;
  const [from, to] = [address(action.address), address(action.refundAddress)];
  return { from, to, value: amount(action.balance), isTopLevel: false };
}

/** Gives each its place. */
function number(transactionHash: string, transfers: readonly Transfer[]): InternalMove[] {
  let next = 0;
  return transfers.flatMap(({ from, to, value, isTopLevel }) => {
    // A contract that pays itself has no more than before.
    if (isTopLevel || value === 0n || to === null || to === from) return [];
    return [{ transactionHash, place: next++, to, value }];
  });
}
