import type { Scan, ScanRequest } from '../adapter.ts';
import type { Chain } from '../chain-list.ts';
import { MissingItems } from '../missing-items.ts';
import { type Node, NodeFailure } from '../nodes/node.ts';
import { heightsOf, inParts } from '../ranges.ts';
import type { Block } from '../transfer.ts';
import { readNative, readTokens } from './block-transfers.ts';
import {
  BLOCKS_PER_BATCH,
  byHeight,
  headerCall,
  readEachHeader,
  readHeader,
  readHeaders,
  readWholeBlocks,
  requireChain,
  type WholeBlock,
} from './blocks.ts';
import { type Found, type Hit, join, NOTHING, type Reading } from './hits.ts';
import {
  blockQuery,
  createLogRanges,
  hitsOfBlock,
  isTooWide,
  type LogRanges,
  rangeQuery,
  toHits,
} from './log-query.ts';
import { createProvenReceipts, type ProvenReceipts } from './proven-receipts.ts';
import { readProven } from './proven-transfers.ts';
import { ReceiptMemory } from './receipt-memory.ts';
import { requireBlock } from './responses.ts';
import { indexWatched, type Watched } from './watched.ts';

/** Blocks of one scan that are read whole, or whose logs are asked for one by one. */
const BLOCKS_ONE_BY_ONE = 100;

/** Blocks of one scan whose receipts are all read: some MB. */
const BLOCKS_PROVEN = 8;

/** What is remembered from one scan to the next. */
export interface ScanMemory {
  readonly ranges: LogRanges;
  readonly receipts: ReceiptMemory;
  readonly misses: MissingItems;
  readonly proven: ProvenReceipts;
}

export function createScanMemory(): ScanMemory {
  const proven = createProvenReceipts();
  const misses = new MissingItems();
  return { ranges: createLogRanges(), receipts: new ReceiptMemory(), misses, proven };
}

/**
 * Scans blocks for transfers: those of tokens by their logs, those of the native asset by the top-level
 * transactions. On chains whose blocks are not final soon, logs of blocks that may be undone are queried by the hash of
 * the block, which a server without the block must refuse. The second scan finds what a lagging server left out: if the
 * cost is affordable, it demands the receipts of whole blocks, which prove that nothing is left out.
 */
export async function scanBlocks(
  node: Node,
  request: ScanRequest,
  chain: Chain,
  memory: ScanMemory,
): Promise<Scan> {
  const { receipts, misses } = memory;
  const reading: Reading = { node, request, receipts, misses, unreadable: [] };
  const scan = await scanFamily(reading, request, chain, memory);
  return { ...scan, unreadable: reading.unreadable };
}

async function scanFamily(
  reading: Reading,
  request: ScanRequest,
  chain: Chain,
  { ranges, proven }: ScanMemory,
): Promise<Scan> {
  const { node } = reading;
  const watched = indexWatched(request.watch);
  const isNative = watched.native.size > 0;
  if (!isNative && watched.tokens.size === 0) {
    return { through: await readHeader(node, request.to), transfers: [] };
  }
  if (request.isSecondLook === true && chain.provesReceipts) {
    return scanProven(reading, request, watched, proven);
  }
  const isByHash = !chain.isFinalSoon && request.to >= request.undoableFrom;
  if (isNative) return scanWhole(reading, request, watched, isByHash);
  if (!isByHash) return scanRange(reading, request, watched, ranges);
  // Final blocks are scanned by ranges, the others block by block.
  return request.from < request.undoableFrom
    ? scanRange(reading, { ...request, to: request.undoableFrom - 1 }, watched, ranges)
    : scanByHash(reading, request, watched);
}

/** Scans one range by its logs: one request reads the logs and the headers of the first and the last block. */
async function scanRange(
  reading: Reading,
  request: ScanRequest,
  watched: Watched,
  ranges: LogRanges,
): Promise<Scan> {
  const { node, unreadable } = reading;
  const { from, parentHash } = request;
  for (;;) {
    const to = Math.min(request.to, from + ranges.of(node) - 1);
    const [first, last, logs] = await node.batch([
      headerCall(from),
      headerCall(to),
      rangeQuery(watched, from, to),
    ]);
    if (isTooWide(logs) && to > from) {
      ranges.refused(node, to - from + 1);
      continue;
    }
    requireChain(node, [requireBlock(node, first, from)], parentHash);
    const through = requireBlock(node, last, to);
    const hits =
      from === to
        ? await hitsOfBlock(node, logs, through, watched, unreadable)
        : toHits(node, logs, { from, to }, watched, unreadable);
    if (to - from + 1 === ranges.of(node)) ranges.accepted(node);
    const found = await readTokens(reading, hits, watched, own =>
      readHitBlocks(node, own, through),
    );
    return { through, ...found };
  }
}

/** See `HitReader`. */
async function readHitBlocks(
  node: Node,
  hits: readonly Hit[],
  through: Block,
): Promise<Map<number, Block | NodeFailure>> {
  const heights = new Set(hits.map(({ height }) => height));
  heights.delete(through.height);
  return (await readEachHeader(node, [...heights])).set(through.height, through);
}

async function scanByHash(reading: Reading, request: ScanRequest, watched: Watched): Promise<Scan> {
  const { node } = reading;
  const to = Math.min(request.to, request.from + BLOCKS_ONE_BY_ONE - 1);
  const blocks = await readHeaders(node, heightsOf(request.from, to));
  requireChain(node, blocks, request.parentHash);
  return { through: lastOf(node, blocks), ...(await readByHash(reading, blocks, watched)) };
}

/** Transfers of tokens in blocks; their logs are queried by block hash. */
async function readByHash(
  reading: Reading,
  blocks: readonly Block[],
  watched: Watched,
): Promise<Found> {
  const { node, unreadable } = reading;
  const responses = await node.batch(blocks.map(({ hash }) => blockQuery(watched, hash)));
  const hits: Hit[] = [];
  for (const [index, block] of blocks.entries()) {
    hits.push(...(await hitsOfBlock(node, responses[index], block, watched, unreadable)));
  }
  return readTokens(reading, hits, watched, async () => byHeight(blocks));
}

/** Scans whole blocks for transfers of the native asset, and their logs for those of tokens. */
async function scanWhole(
  reading: Reading,
  request: ScanRequest,
  watched: Watched,
  isByHash: boolean,
): Promise<Scan> {
  const { node } = reading;
  const to = Math.min(request.to, request.from + BLOCKS_ONE_BY_ONE - 1);
  const blocks: WholeBlock[] = [];
  for (const together of inParts(heightsOf(request.from, to), BLOCKS_PER_BATCH)) {
    blocks.push(...(await readWholeBlocks(node, together)));
  }
  requireChain(node, blocks, request.parentHash);
  const native = await readNative(reading, blocks, watched);
  const tokens =
    watched.tokens.size === 0
      ? NOTHING
      : isByHash
        ? await readByHash(reading, blocks, watched)
        : await readByRange(reading, blocks, watched);
  return { through: lastOf(node, blocks), ...join(native, tokens) };
}

/** Scans blocks by the receipts that prove what is in them. */
async function scanProven(
  reading: Reading,
  request: ScanRequest,
  watched: Watched,
  proven: ProvenReceipts,
): Promise<Scan> {
  const { node } = reading;
  const to = Math.min(request.to, request.from + BLOCKS_PROVEN - 1);
  const isWhole = watched.native.size > 0;
  const blocks = await readWholeBlocks(node, heightsOf(request.from, to), isWhole);
  requireChain(node, blocks, request.parentHash);
  return {
    through: lastOf(node, blocks),
    ...(await readProven(reading, blocks, watched, proven)),
  };
}

async function readByRange(
  reading: Reading,
  blocks: readonly Block[],
  watched: Watched,
): Promise<Found> {
  const { node, unreadable } = reading;
  const [from, to] = [blocks[0]?.height ?? 0, blocks.at(-1)?.height ?? 0];
  const query = rangeQuery(watched, from, to);
  const [logs] = await node.batch([query]);
  if (isTooWide(logs) && blocks.length > 1) {
    const middle = Math.ceil(blocks.length / 2);
    return join(
      await readByRange(reading, blocks.slice(0, middle), watched),
      await readByRange(reading, blocks.slice(middle), watched),
    );
  }
  const [only, ...others] = blocks;
  const hits =
    only !== undefined && others.length === 0
      ? await hitsOfBlock(node, logs, only, watched, unreadable)
      : toHits(node, logs, { from, to }, watched, unreadable);
  return readTokens(reading, hits, watched, async () => byHeight(blocks));
}

function lastOf(node: Node, blocks: readonly Block[]): Block {
  const last = blocks.at(-1);
  if (last === undefined) throw new NodeFailure(`${node.label} has no blocks of the range`);
  const { height, hash, parentHash, time } = last;
  return { height, hash, parentHash, time };
}
