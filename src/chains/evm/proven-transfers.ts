import type { Node } from '../nodes/node.ts';
import type { Block, ChainTransfer, WatchedAddress } from '../transfer.ts';
import { readNative, readTokens } from './block-transfers.ts';
import { byHeight, toWholeBlock, type WholeBlock } from './blocks.ts';
import { headerHash } from './header-hash.ts';
import { type Found, type Hit, join, NOTHING, type Reading } from './hits.ts';
import { blockQuery, hitsOfBlock, toHits } from './log-query.ts';
import { mayPayWatched } from './logs-bloom.ts';
import type { ProvenReceipts } from './proven-receipts.ts';
import type { Receipt } from './receipts.ts';
import { toBlock, toParameter } from './responses.ts';
import { tokenTransfers, watchedLogs } from './transfer-logs.ts';
import { indexWatched, type Watched } from './watched.ts';

/**
 * Transfers in blocks, read from all receipts of each block, or from its logs if the node cannot return the receipts.
 * @param blocks With whole transactions if the native asset is watched. Their receipts then prove how many there
 * are, and which had effect.
 * @throws NodeFailure
 */
export async function readProven(
  reading: Reading,
  blocks: readonly WholeBlock[],
  watched: Watched,
  proven: ProvenReceipts,
): Promise<Found> {
  const { node, unreadable } = reading;
  const isNative = watched.native.size > 0;
  const concerned = blocks.filter(
    block => isNative || !isSealed(block) || mayPayWatched(block.fields.logsBloom, watched),
  );
  const all = await proven.read(node, concerned);
  const receipts = withKnown(
    reading.receipts,
    all.flatMap(own => own ?? []),
  );
  const withReceipts = { ...reading, receipts };
  const native = isNative ? await readNative(withReceipts, blocks, watched) : NOTHING;
  if (watched.tokens.size === 0) return native;
  const unproven = concerned.filter((_, index) => all[index] === null);
  const queries = unproven.map(({ hash }) => blockQuery(watched, hash));
  const responses = await node.batch(queries);
  const hits: Hit[] = [];
  for (const [index, block] of concerned.entries()) {
    const logs = all[index]?.flatMap(receipt => toLogs(receipt, watched));
    const found =
      logs === undefined
        ? await hitsOfBlock(node, responses[unproven.indexOf(block)], block, watched, unreadable)
        : toHits(node, logs, block, watched, unreadable);
    hits.push(...found);
  }
  return join(native, await readTokens(withReceipts, hits, watched, async () => byHeight(blocks)));
}

/**
 * The transfers of tokens to watched addresses that a block's receipts prove, so that the node need not be trusted.
 * @returns null if the node has no such block, cannot return its receipts, or does not return enough of its header to
 * hash it.
 * @throws NodeFailure; RpcError for the header.
 */
export async function proveTransfers(
  node: Node,
  { hash }: Pick<Block, 'hash'>,
  watch: readonly WatchedAddress[],
  proven: ProvenReceipts,
): Promise<readonly ChainTransfer[] | null> {
  const response = await node.call('eth_getBlockByHash', [hash, false]);
  const header = toBlock(node, response, null);
  if (header?.hash !== hash) return null;
  const block = toWholeBlock(node, header, response);
  if (!isSealed(block)) return null;
  const [receipts = null] = await proven.read(node, [block]);
  const watched = indexWatched(watch);
  return receipts?.flatMap(receipt => tokenTransfers(node, receipt, block, watched)) ?? null;
}

/** Whether the header, as the node has sent it, hashes to the hash of the block. */
function isSealed({ fields, hash }: WholeBlock): boolean {
  return headerHash(fields) === hash;
}

/** The transfers in a receipt, as a query for logs returns them. */
function toLogs(receipt: Receipt, watched: Watched) {
  const { transactionHash, blockHash, height } = receipt;
  const place = { transactionHash, blockHash, blockNumber: toParameter(height) };
  return watchedLogs(receipt, watched).map(log => ({ ...log, ...place }));
}

/** A source that returns known receipts, and reads only the others. */
function withKnown(source: Reading['receipts'], receipts: readonly Receipt[]): Reading['receipts'] {
  const known = new Map(receipts.map(each => [each.transactionHash, each]));
  return {
    async read(node, wanted) {
      const unknown = wanted.filter(({ transactionHash: hash }) => !known.has(hash));
      const found = await source.read(node, unknown);
      for (const { transactionHash: hash } of wanted) {
        const receipt = known.get(hash);
        if (receipt !== undefined) found.set(hash, receipt);
      }
      return found;
    },
  };
}
