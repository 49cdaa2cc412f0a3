import type { Scan, ScanRequest, Unreadable } from '../adapter.ts';
import { dependenciesOf, findConflicts } from '../conflicts.ts';
import { BLOCK_TIMEOUT_MS, type Node, NodeFailure, RpcError } from '../nodes/node.ts';
import { PrunedBlock } from '../pruned-block.ts';
import { heightsOf } from '../ranges.ts';
import { failure, orThrow } from '../responses.ts';
import type { Block, ChainTransfer } from '../transfer.ts';
import { readEach, readOrFailure } from '../unreadable.ts';
import { type ParsedBlock, parseBlock, parseHeader, requireRoot } from './block.ts';
import {
  isNotFound,
  isOutOfRange,
  isPruned,
  parsing,
  property,
  readTransaction,
  toHash,
  toText,
} from './responses.ts';
import { toUnreadable, transfersOf, type WatchedScripts } from './watched-scripts.ts';

/** When a call stops and leaves the rest to the next one. */
export interface WorkLimit {
  /** In milliseconds. */
  readonly workMs: number;
  /** Milliseconds since any moment; never set back. */
  readonly elapsed: () => number;
}

/** Hex digits of a header. */
const HEADER_DIGITS = 160;
/** Most blocks of one scan: some 40 MB. */
const BLOCKS_MAXIMUM = 20;

/** @returns null above the newest block. */
export async function askHash(node: Node, height: number): Promise<string | null> {
  const [response] = await node.batch([{ method: 'getblockhash', params: [height] }]);
  if (isOutOfRange(response)) return null;
  return toHash(node, orThrow(response), `the hash of block ${height}`);
}

/** A block, as far as its transactions can be read. */
interface ReadBlock extends ParsedBlock {
  readonly unreadable: readonly UnreadableTransaction[];
}

/** A transaction of a block that cannot be read. */
export interface UnreadableTransaction {
  readonly id: string;
  /** As the node has sent it. */
  readonly sent: unknown;
  readonly detail: string;
}

/**
 * A whole block, with every transaction that its header commits to and no other. If its bytes cannot be
 * read as a block, each transaction is read by itself.
 * @throws PrunedBlock, NodeFailure
 */
export async function askBlock(node: Node, hash: string): Promise<ReadBlock> {
  const [response] = await node.batch([{ method: 'getblock', params: [hash, 0] }], {
    timeoutMs: BLOCK_TIMEOUT_MS,
  });
  if (isPruned(response)) throw new PrunedBlock(`${node.label}: block ${hash} is pruned`);
  if (isNotFound(response)) throw failure(node, `there is no block ${hash}`, response);
  const hex = toText(node, orThrow(response), 'a block');
  const read = <T>(parse: () => T) => parsing(node, `block ${hash}`, parse);
  // Bytes that do not begin with this header are not the block: its transactions are not read one by one then.
  read(() => parseHeader(hex.slice(0, HEADER_DIGITS), hash));
  const block = readOrFailure(() => read(() => parseBlock(hex, hash)));
  return block instanceof NodeFailure ? askApart(node, hash, block) : { ...block, unreadable: [] };
}

/**
 * Reads a block by its single transactions, whose IDs its header commits to.
 * @param reason Why the block could not be read as a whole; thrown if the node does not return them.
 */
async function askApart(node: Node, hash: string, reason: NodeFailure): Promise<ReadBlock> {
  const [head, whole] = await node.batch(
    [
      { method: 'getblockheader', params: [hash, false] },
      { method: 'getblock', params: [hash, 2] },
    ],
    { timeoutMs: BLOCK_TIMEOUT_MS },
  );
  const list = property(whole, 'tx');
  if (head instanceof RpcError || !Array.isArray(list)) throw reason;
  const ids = list.map(each => toHash(node, property(each, 'txid'), 'the ID of a transaction'));
  const { parentHash, time } = parsing(node, `block ${hash}`, () => {
    const header = parseHeader(toText(node, head, 'a header'), hash);
    requireRoot(
      ids.map(id => Buffer.from(id, 'hex').reverse()),
      header.root,
    );
    return header;
  });
  const unreadable: UnreadableTransaction[] = [];
  const transactions = readEach(
    list.map((sent, index) => ({ id: ids[index] ?? '', sent })),
    ({ id, sent }) => [readTransaction(node, id, property(sent, 'hex'))],
    ({ id, sent }, detail) => unreadable.push({ id, sent, detail }),
  );
  return { hash, parentHash, time, transactions, unreadable };
}

/**
 * Reads blocks one after the other, and stops early if there are many or they take long.
 * @param onBlock Called with each block that was read.
 * @throws PrunedBlock, NodeFailure; also if the blocks are not a chain that begins after `parentHash`.
 */
export async function scanBlocks(
  node: Node,
  request: Pick<ScanRequest, 'from' | 'to' | 'parentHash' | 'dependents'>,
  watched: WatchedScripts,
  limit: WorkLimit,
  onBlock: (block: ReadBlock) => void,
): Promise<Scan> {
  const { from, dependents = [] } = request;
  const awaited = new Set(dependents.flatMap(dependenciesOf));
  const hashes = await askHashes(node, from, Math.min(request.to, from + BLOCKS_MAXIMUM - 1));
  const until = limit.elapsed() + limit.workMs;
  const transfers: ChainTransfer[] = [];
  const unreadable: Unreadable[] = [];
  const spentBy = new Map<string, string>();
  let through: Block | undefined;
  for (const [index, hash] of hashes.entries()) {
    const block = await askBlock(node, hash);
    const parentHash = through?.hash ?? request.parentHash ?? block.parentHash;
    if (block.parentHash !== parentHash) {
      throw failure(node, `block ${hash} at ${from + index} does not follow block ${parentHash}`);
    }
    const read = { height: from + index, hash, parentHash, time: block.time };
    transfers.push(...block.transactions.flatMap(each => transfersOf(each, watched, read)));
    unreadable.push(...block.unreadable.map(each => toUnreadable(each, watched, read.height)));
    for (const { id, inputs } of block.transactions) {
      for (const input of inputs) if (awaited.has(input)) spentBy.set(input, id);
    }
    through = read;
    onBlock(block);
    if (limit.elapsed() >= until) break;
  }
  if (through === undefined) throw new RangeError(`no blocks from ${from} to ${request.to}`);
  return { through, transfers, unreadable, conflicts: findConflicts(dependents, spentBy) };
}

async function askHashes(node: Node, from: number, to: number): Promise<string[]> {
  const calls = heightsOf(from, to).map(height => ({ method: 'getblockhash', params: [height] }));
  const responses = await node.batch(calls);
  return responses.map((response, index) => {
    if (response instanceof RpcError && isOutOfRange(response)) {
      throw failure(node, `there is no block at ${from + index}`, response);
    }
    return toHash(node, orThrow(response), `the hash of block ${from + index}`);
  });
}
