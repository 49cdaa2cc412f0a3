import { type Node, NodeFailure } from '../../nodes/node.ts';
import type { Block, ChainTransfer, Scan, ScanRequest } from '../adapter.ts';
import type { Chain } from '../chain-list.ts';
import { requireBlock, toParameter } from './answers.ts';
import {
  BLOCKS_PER_BATCH,
  heightsOf,
  readHeaders,
  readWholeBlocks,
  requireChain,
  type WholeBlock,
} from './blocks.ts';
import {
  blockQuery,
  isTooWide,
  type LogPlace,
  type LogRanges,
  placesOfBlock,
  rangeQuery,
  toPlaces,
} from './log-query.ts';
import { readReceipts, requireReceipt } from './receipts.ts';
import { tokenTransfers } from './transfer-logs.ts';
import { indexWatched, type Watched } from './watched.ts';

/** Blocks of one scan that are read whole, or whose logs are asked for one by one. */
const BLOCKS_ONE_BY_ONE = 100;

/**
 * Scans blocks for transfers: those of tokens by their logs, those of the native asset by the top-level
 * transactions. On chains that are covered up to their newest block, logs of blocks that may be undone are
 * asked for by the hash of the block, which a backend that does not have the block must refuse; elsewhere
 * the second look finds what a backend left out.
 */
export async function scanBlocks(
  node: Node,
  request: ScanRequest,
  chain: Chain,
  ranges: LogRanges,
): Promise<Scan> {
  const watched = indexWatched(request.watch);
  const isNative = watched.native.size > 0;
  const isByHash = chain.coverage === 'tip' && request.to >= request.undoableFrom;
  if (isNative) return scanWhole(node, request, watched, isByHash);
  if (watched.tokens.size === 0) return skip(node, request);
  if (!isByHash) return scanRange(node, request, watched, ranges);
  // What is final already goes by ranges, the rest block by block.
  return request.from < request.undoableFrom
    ? scanRange(node, { ...request, to: request.undoableFrom - 1 }, watched, ranges)
    : scanByHash(node, request, watched);
}

async function skip(node: Node, { to }: ScanRequest): Promise<Scan> {
  const [through] = await readHeaders(node, [to]);
  if (through === undefined) throw new NodeFailure(`${node.label} has no block ${to}`);
  return { through, transfers: [] };
}

/** Logs of one range: its first and its last block, and the logs, in one request. */
async function scanRange(
  node: Node,
  request: ScanRequest,
  watched: Watched,
  ranges: LogRanges,
): Promise<Scan> {
  const { from, parentHash } = request;
  for (;;) {
    const to = Math.min(request.to, from + ranges.of(node) - 1);
    const [first, last, logs] = await node.batch([
      { method: 'eth_getBlockByNumber', params: [toParameter(from), false] },
      { method: 'eth_getBlockByNumber', params: [toParameter(to), false] },
      rangeQuery(watched, from, to),
    ]);
    if (isTooWide(logs) && to > from) {
      ranges.refused(node);
      continue;
    }
    requireChain(node, [requireBlock(node, first, from)], parentHash);
    const through = requireBlock(node, last, to);
    const places =
      from === to
        ? await placesOfBlock(node, logs, through, watched)
        : toPlaces(node, logs, { from, to }, watched);
    if (to - from + 1 === ranges.of(node)) ranges.answered(node);
    const blocks = await readHitBlocks(node, places, through);
    return { through, transfers: await readTransfers(node, places, blocks, watched) };
  }
}

/** The blocks of hits, whose hashes must be those of the logs. */
async function readHitBlocks(
  node: Node,
  places: readonly LogPlace[],
  through: Block,
): Promise<Map<string, Block>> {
  const heights = [...new Set(places.map(({ height }) => height))];
  const blocks = new Map([[through.hash, through]]);
  const unread = heights.filter(height => height !== through.height);
  for (let next = 0; next < unread.length; next += BLOCKS_ONE_BY_ONE) {
    for (const block of await readHeaders(node, unread.slice(next, next + BLOCKS_ONE_BY_ONE))) {
      blocks.set(block.hash, block);
    }
  }
  return blocks;
}

async function scanByHash(node: Node, request: ScanRequest, watched: Watched): Promise<Scan> {
  const to = Math.min(request.to, request.from + BLOCKS_ONE_BY_ONE - 1);
  const blocks = await readHeaders(node, heightsOf(request.from, to));
  requireChain(node, blocks, request.parentHash);
  return { through: lastOf(node, blocks), transfers: await readByHash(node, blocks, watched) };
}

/** Transfers of tokens in blocks, whose logs are asked for by their hashes. */
async function readByHash(
  node: Node,
  blocks: readonly Block[],
  watched: Watched,
): Promise<ChainTransfer[]> {
  const answers = await node.batch(blocks.map(({ hash }) => blockQuery(watched, hash)));
  const places: LogPlace[] = [];
  for (const [index, block] of blocks.entries()) {
    places.push(...(await placesOfBlock(node, answers[index], block, watched)));
  }
  const byHash = new Map(blocks.map(block => [block.hash, block]));
  return readTransfers(node, places, byHash, watched);
}

/** Whole blocks, for transfers of the native asset; those of tokens beside them. */
async function scanWhole(
  node: Node,
  request: ScanRequest,
  watched: Watched,
  isByHash: boolean,
): Promise<Scan> {
  const to = Math.min(request.to, request.from + BLOCKS_ONE_BY_ONE - 1);
  const blocks: WholeBlock[] = [];
  for (let next = request.from; next <= to; next += BLOCKS_PER_BATCH) {
    const last = Math.min(to, next + BLOCKS_PER_BATCH - 1);
    blocks.push(...(await readWholeBlocks(node, heightsOf(next, last))));
  }
  requireChain(node, blocks, request.parentHash);
  const native = await readNative(node, blocks, watched);
  const tokens =
    watched.tokens.size === 0
      ? []
      : isByHash
        ? await readByHash(node, blocks, watched)
        : await readByRange(node, blocks, watched);
  return { through: lastOf(node, blocks), transfers: [...native, ...tokens] };
}

async function readByRange(
  node: Node,
  blocks: readonly Block[],
  watched: Watched,
): Promise<ChainTransfer[]> {
  const [from, to] = [blocks[0]?.height ?? 0, blocks.at(-1)?.height ?? 0];
  const query = rangeQuery(watched, from, to);
  const [logs] = await node.batch([query]);
  if (isTooWide(logs) && blocks.length > 1) {
    const middle = Math.ceil(blocks.length / 2);
    return [
      ...(await readByRange(node, blocks.slice(0, middle), watched)),
      ...(await readByRange(node, blocks.slice(middle), watched)),
    ];
  }
  const [only, ...others] = blocks;
  const places =
    only !== undefined && others.length === 0
      ? await placesOfBlock(node, logs, only, watched)
      : toPlaces(node, logs, { from, to }, watched);
  const byHash = new Map(blocks.map(block => [block.hash, block]));
  return readTransfers(node, places, byHash, watched);
}

/** Top-level transfers, each with its receipt. */
async function readNative(
  node: Node,
  blocks: readonly WholeBlock[],
  { native }: Watched,
): Promise<ChainTransfer[]> {
  const hits = blocks.flatMap(block =>
    block.transactions.flatMap(transaction => {
      const watched = native.get(transaction.to ?? '');
      return watched === undefined || transaction.value === 0n
        ? []
        : [{ block, transaction, watched }];
    }),
  );
  const receipts = await readReceipts(
    node,
    hits.map(({ transaction }) => transaction.hash),
  );
  return hits.flatMap(({ block, transaction, watched }) => {
    const receipt = requireReceipt(node, receipts, transaction.hash, block);
    if (!receipt.succeeded) return [];
    const { height, hash, time } = block;
    return [
      {
        blockchainId: watched.network.id,
        transactionHash: transaction.hash,
        position: 0,
        address: watched.address,
        tokenAmount: transaction.value,
        block: { height, hash, time },
        inputs: null,
        maturity: 1,
      },
    ];
  });
}

/** Transfers of tokens in the transactions of these logs, by their receipts. */
async function readTransfers(
  node: Node,
  places: readonly LogPlace[],
  blocks: ReadonlyMap<string, Block>,
  watched: Watched,
): Promise<ChainTransfer[]> {
  const blockOf = new Map(places.map(each => [each.transactionHash, each.blockHash]));
  const receipts = await readReceipts(node, [...blockOf.keys()]);
  return [...blockOf].flatMap(([transactionHash, blockHash]) => {
    const block = blocks.get(blockHash);
    if (block === undefined) {
      throw new NodeFailure(`${node.label}: a log came of another branch`);
    }
    const receipt = requireReceipt(node, receipts, transactionHash, block);
    const { height, hash, time } = block;
    return tokenTransfers(receipt, { height, hash, time }, watched);
  });
}

function lastOf(node: Node, blocks: readonly Block[]): Block {
  const last = blocks.at(-1);
  if (last === undefined) throw new NodeFailure(`${node.label} has no blocks of the range`);
  const { height, hash, parentHash, time } = last;
  return { height, hash, parentHash, time };
}
