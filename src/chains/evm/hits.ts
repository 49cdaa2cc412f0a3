import { type Node, NodeFailure } from '../../nodes/node.ts';
import type { Arrival, Block, ChainTransfer, ScanRequest } from '../adapter.ts';
import type { ReceiptMemory } from './receipt-memory.ts';
import { type Receipt, requireReceipt } from './receipts.ts';

/** A log, or a top-level transaction, that pays a watched address: its receipt tells whether it counts. */
export interface Hit extends Arrival {
  readonly height: number;
  readonly blockHash: string;
}

/** What a scan has found. */
export interface Found {
  readonly transfers: readonly ChainTransfer[];
  readonly dust: readonly Arrival[];
}

/** What hits are read with. */
export interface Reading {
  readonly node: Node;
  readonly request: Pick<ScanRequest, 'weigh' | 'takeAwaited'>;
  readonly receipts: ReceiptMemory;
}

/** How the transfers of a family of hits are read. */
export interface HitReader {
  /** The blocks of hits, by their hashes. */
  readBlocks(hits: readonly Hit[]): Promise<ReadonlyMap<string, Block>>;
  /** Every transfer of a transaction, whether or not it is dust. */
  toTransfers(receipt: Receipt, block: Pick<Block, 'height' | 'hash' | 'time'>): ChainTransfer[];
}

/**
 * Reads the transactions of hits by their receipts, those that pay an address at which a payment waits
 * first, and asks nothing about dust.
 * @throws NodeFailure
 */
export async function readHits(
  { node, request, receipts }: Reading,
  hits: readonly Hit[],
  reader: HitReader,
): Promise<Found> {
  if (hits.length === 0) return { transfers: [], dust: [] };
  const weights = (await request.weigh?.(hits)) ?? hits.map(weighAlone);
  const dust = hits.filter((_, index) => weights[index] === 'dust');
  const kept = hits.filter((_, index) => weights[index] !== 'dust');
  const awaited = new Set(hits.filter((_, index) => weights[index] === 'awaited').map(hashOf));
  const blocks = kept.length === 0 ? new Map<string, Block>() : await reader.readBlocks(kept);
  const dustOf = Map.groupBy(dust, hashOf);

  const read = async (group: readonly Hit[]): Promise<ChainTransfer[]> => {
    const found = await receipts.read(node, group);
    return [...new Map(group.map(hit => [hit.transactionHash, hit])).values()].flatMap(hit => {
      const block = blocks.get(hit.blockHash);
      if (block === undefined) throw new NodeFailure(`${node.label}: a log came of another branch`);
      const receipt = requireReceipt(node, found, hit.transactionHash, block);
      const { height, hash, time } = block;
      const transfers = reader.toTransfers(receipt, { height, hash, time });
      return without(transfers, dustOf.get(hit.transactionHash) ?? []);
    });
  };
  const first = await read(kept.filter(hit => awaited.has(hit.transactionHash)));
  if (first.length > 0) await request.takeAwaited?.(first);
  const others = await read(kept.filter(hit => !awaited.has(hit.transactionHash)));
  return { transfers: [...first, ...others], dust };
}

function weighAlone({ tokenAmount }: Arrival) {
  return tokenAmount === 0n ? 'dust' : 'other';
}

function hashOf({ transactionHash }: Arrival): string {
  return transactionHash;
}

/** The transfers of a transaction, without as many of each amount as are dust, which are the last ones. */
function without(transfers: readonly ChainTransfer[], dust: readonly Arrival[]): ChainTransfer[] {
  const keyOf = ({ blockchainId, address, tokenAmount }: Arrival) =>
    `${blockchainId} ${address} ${tokenAmount}`;
  const left = new Map<string, number>();
  for (const each of dust) left.set(keyOf(each), (left.get(keyOf(each)) ?? 0) + 1);
  return transfers
    .toReversed()
    .filter(transfer => {
      const count = left.get(keyOf(transfer)) ?? 0;
      if (count > 0) left.set(keyOf(transfer), count - 1);
      return count === 0;
    })
    .toReversed();
}
