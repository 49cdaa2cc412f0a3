import { BLOCK_TIMEOUT_MS, type Node, RpcError } from '../../nodes/node.ts';
import type { Block, ChainTransfer, Scan, ScanRequest } from '../adapter.ts';
import { orThrow } from '../answers.ts';
import { PrunedBlock } from '../pruned-block.ts';
import { failure, isNotFound, isOutOfRange, isPruned, parsing, toHash, toText } from './answers.ts';
import { type ParsedBlock, parseBlock } from './block.ts';
import { transfersOf, type WatchedScripts } from './watched-scripts.ts';

/** When to stop and to go on with the next call. */
export interface WorkLimit {
  /** In milliseconds. */
  readonly workMs: number;
  /** Milliseconds since any moment; never set back. */
  readonly elapsed: () => number;
}

/** Most blocks of one scan: some 40 MB. */
const BLOCKS_MAXIMUM = 20;

/** @returns null above the newest block. */
export async function askHash(node: Node, height: number): Promise<string | null> {
  const [answer] = await node.batch([{ method: 'getblockhash', params: [height] }]);
  if (isOutOfRange(answer)) return null;
  return toHash(node, orThrow(answer), `the hash of block ${height}`);
}

/**
 * A whole block, with every transaction that its header commits to and no other.
 * @throws PrunedBlock, NodeFailure
 */
export async function askBlock(node: Node, hash: string): Promise<ParsedBlock> {
  const [answer] = await node.batch([{ method: 'getblock', params: [hash, 0] }], {
    timeoutMs: BLOCK_TIMEOUT_MS,
  });
  if (isPruned(answer)) throw new PrunedBlock(`${node.label}: block ${hash} is pruned`);
  if (isNotFound(answer)) throw failure(node, `there is no block ${hash}`, answer);
  const hex = toText(node, orThrow(answer), 'a block');
  return parsing(node, `block ${hash}`, () => parseBlock(hex, hash));
}

/**
 * Reads blocks one after the other, and stops early when they are many or take long.
 * @param onBlock Gets each block that was read.
 * @throws PrunedBlock, NodeFailure; also if the blocks are not a chain that begins after `parentHash`.
 */
export async function scanBlocks(
  node: Node,
  request: Pick<ScanRequest, 'from' | 'to' | 'parentHash'>,
  watched: WatchedScripts,
  limit: WorkLimit,
  onBlock: (block: ParsedBlock) => void,
): Promise<Scan> {
  const { from } = request;
  const hashes = await askHashes(node, from, Math.min(request.to, from + BLOCKS_MAXIMUM - 1));
  const until = limit.elapsed() + limit.workMs;
  const transfers: ChainTransfer[] = [];
  let through: Block | undefined;
  for (const [index, hash] of hashes.entries()) {
    const block = await askBlock(node, hash);
    const parentHash = through?.hash ?? request.parentHash ?? block.parentHash;
    if (block.parentHash !== parentHash) {
      throw failure(node, `block ${hash} at ${from + index} does not follow block ${parentHash}`);
    }
    through = { height: from + index, hash, parentHash, time: block.time };
    const place = { height: through.height, hash, time: block.time };
    transfers.push(...block.transactions.flatMap(each => transfersOf(each, watched, place)));
    onBlock(block);
    if (limit.elapsed() >= until) break;
  }
  if (through === undefined) throw new RangeError(`no blocks from ${from} to ${request.to}`);
  return { through, transfers };
}

async function askHashes(node: Node, from: number, to: number): Promise<string[]> {
  const calls = Array.from({ length: to - from + 1 }, (_, index) => ({
    method: 'getblockhash',
    params: [from + index],
  }));
  const answers = await node.batch(calls);
  return answers.map((answer, index) => {
    if (answer instanceof RpcError && isOutOfRange(answer)) {
      throw failure(node, `there is no block at ${from + index}`, answer);
    }
    return toHash(node, orThrow(answer), `the hash of block ${from + index}`);
  });
}
