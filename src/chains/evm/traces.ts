import { type Node, NodeFailure } from '../nodes/node.ts';
import { type Fields, failure, toFields, toList } from '../responses.ts';
import type { Block } from '../transfer.ts';
import { readEach } from '../unreadable.ts';
import { hashOrNull } from './blocks.ts';
import { toAddressOrNull, toAmount, toHash } from './responses.ts';

/** Value that a frame of a transaction has moved. */
interface InternalMove {
  readonly transactionHash: string;
  /**
   * Index among the moves of the transaction, depth first and from 0. Frames that move nothing are not
   * counted, since nodes differ in which of them they list: calls of precompiled contracts, and calls that fail
   * before they begin.
   */
  readonly index: number;
  /** In lower case. */
  readonly to: string;
  /** In wei, more than 0. */
  readonly value: bigint;
}

/** What the trace of a block shows. */
export interface TracedMoves {
  readonly moves: readonly InternalMove[];
  /** Hashes of transactions whose traces are missing or cannot be read. */
  readonly unread: ReadonlySet<string>;
}

/** A frame that moves value, independent of the node's format. */
interface Transfer {
  readonly from: string | null;
  readonly to: string | null;
  readonly value: bigint;
  /** Whether it is the value of the transaction itself, which the scan of blocks finds. */
  readonly isTopLevel: boolean;
}

/** Calls that have a value of their own; DELEGATECALL and CALLCODE move nothing to another address. */
const CALL_FRAMES = new Set(['CALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT']);
/** Types of self-destruct frames: Parity's name, and the newer one. */
const ENDS = new Set(['suicide', 'selfdestruct']);

/**
 * The response to `debug_traceBlockByNumber` with `callTracer`, whose frames contain their calls.
 * @param transactions Hashes of the block's transactions, in their order.
 * @returns Traces on which the node gave up, for example because they took too long, are `unread`.
 * @throws NodeFailure for traces of other transactions.
 */
export function readCallTracer(
  node: Node,
  response: unknown,
  transactions: readonly string[],
): TracedMoves {
  const traces = toList(node, response, 'the trace of a block');
  if (traces.length !== transactions.length) {
    throw failure(node, 'the trace of a block is that of another one');
  }
  // Older nodes leave the hash out, but keep the order.
  const isStray = (each: unknown, index: number) =>
    (hashOrNull(each, 'txHash') ?? transactions[index]) !== transactions[index];
  if (traces.some(isStray)) throw failure(node, 'a trace came for another transaction');
  return readOneByOne(transactions, (transactionHash, index) => {
    const { error, result } = toFields(node, traces[index], 'the trace of a transaction');
    if (error !== undefined && error !== null) {
      throw new NodeFailure(`${node.label} gave up on the trace of a transaction`);
    }
    const root = toFields(node, result, 'the trace of a transaction');
    return number(transactionHash, [...walkCalls(node, root, true)]);
  });
}

/** A trace that cannot be read is left out as a whole, and the others are read. */
function readOneByOne(
  transactions: readonly string[],
  read: (transactionHash: string, index: number) => InternalMove[],
): TracedMoves {
  const unread = new Set<string>();
  const moves = readEach(transactions, read, hash => unread.add(hash));
  return { moves, unread };
}

function typeOf(node: Node, { type }: Fields): string {
  if (typeof type === 'string') return type;
  throw failure(node, 'a frame has no type');
}

/** Frames depth first. A frame that failed has undone all its calls. */
function* walkCalls(node: Node, frame: Fields, isRoot: boolean): Generator<Transfer> {
  if (frame.error !== undefined && frame.error !== null) return;
  const type = typeOf(node, frame).toUpperCase();
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
 * The response to `trace_block`: frames of all transactions in one list, depth first, with rewards at the end.
 * @param transactions Hashes of the block's transactions.
 * @throws NodeFailure for frames of another block, and if a transaction has none: a backend without the
 * block may return an empty list.
 */
export function readTraceBlock(
  node: Node,
  response: unknown,
  block: Pick<Block, 'height' | 'hash'>,
  transactions: readonly string[],
): TracedMoves {
  const all = toList(node, response, 'the trace of a block');
  const read = readEach(
    all,
    each => [toFrame(node, each)],
    () => undefined,
  );
  const stray = read.find(({ blockHash }) => blockHash !== block.hash);
  if (stray !== undefined) {
    throw failure(node, `a trace came of another block than ${block.height}`);
  }
  const frames = Map.groupBy(read, ({ transactionHash }) => transactionHash);
  const isWhole = read.length === all.length;
  if (isWhole && transactions.some(hash => !frames.has(hash))) {
    throw failure(node, `the trace of block ${block.height} lacks a transaction`);
  }
  return readOneByOne(transactions, hash => {
    const own = frames.get(hash)?.map(({ fields }) => fields) ?? [];
    // A frame that cannot be read may belong to any transaction that is not complete without it.
    if (!(isWhole || areWhole(node, own))) {
      throw failure(node, `the trace of ${hash} lacks a frame`);
    }
    return number(hash, transfersOf(node, own));
  });
}

function toFrame(node: Node, value: unknown) {
  const fields = toFields(node, value, 'a frame');
  const { transactionHash } = fields;
  return {
    fields,
    blockHash: toHash(node, fields.blockHash, 'the block of a frame'),
    // Rewards belong to no transaction.
    transactionHash:
      transactionHash === null || transactionHash === undefined
        ? null
        : toHash(node, transactionHash, 'the transaction of a frame'),
  };
}

/** Whether each frame of a transaction has as many child frames as its `subtraces` says. */
function areWhole(node: Node, frames: readonly Fields[]): boolean {
  const places = frames.map(({ traceAddress }) =>
    toList(node, traceAddress, 'the place of a frame').join(),
  );
  const below = Map.groupBy(places, place => place.split(',').slice(0, -1).join());
  return (
    places.includes('') &&
    frames.every(
      ({ subtraces }, index) =>
        (below.get(places[index] ?? '')?.filter(place => place !== '').length ?? 0) === subtraces,
    )
  );
}

function transfersOf(node: Node, frames: readonly Fields[]): Transfer[] {
  /** Paths of failed frames, each ending in a separator, so that the paths of frames inside begin with it. */
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
  const type = typeOf(node, frame);
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

/** The moves of a transaction, with their indexes. */
function number(transactionHash: string, transfers: readonly Transfer[]): InternalMove[] {
  let next = 0;
  return transfers.flatMap(({ from, to, value, isTopLevel }) => {
    // A contract that pays itself has no more than before.
    if (isTopLevel || value === 0n || to === null || to === from) return [];
    return [{ transactionHash, index: next++, to, value }];
  });
}
