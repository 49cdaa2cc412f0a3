import type { Arrival, ScanRequest, Unreadable, Weight } from '../adapter.ts';
import type { MissingItems } from '../missing-items.ts';
import { LaggingNode, type Node, NodeFailure } from '../nodes/node.ts';
import type { Block, ChainTransfer, WatchedAddress } from '../transfer.ts';
import { readOrFailure } from '../unreadable.ts';
import type { ReceiptMemory } from './receipt-memory.ts';
import { type Receipt, requireReceipt } from './receipts.ts';

/** A log, or a top-level transaction, that pays a watched address. It counts if its receipt confirms it. */
export interface Hit extends Omit<Arrival, 'tokenAmount'> {
  /** undefined if the log has no readable amount: it is read from the receipt, and never counts as dust. */
  readonly tokenAmount: bigint | undefined;
  /** The address that it pays. */
  readonly watched: WatchedAddress;
  readonly height: number;
  readonly blockHash: string;
}

/** The transfers and the dust of a scan. */
export interface Found {
  readonly transfers: readonly ChainTransfer[];
  readonly dust: readonly Arrival[];
}

export const NOTHING: Found = { transfers: [], dust: [] };

export function join(one: Found, other: Found): Found {
  return {
    transfers: [...one.transfers, ...other.transfers],
    dust: [...one.dust, ...other.dust],
  };
}

/** What reading hits needs. */
export interface Reading {
  readonly node: Node;
  readonly request: Pick<ScanRequest, 'weigh' | 'takeAwaited'>;
  readonly receipts: Pick<ReceiptMemory, 'read'>;
  readonly misses: MissingItems;
  /** Collects what cannot be read. */
  readonly unreadable: Unreadable[];
}

/** How the transfers of hits are read: native ones and tokens differ. */
export interface HitReader {
  /**
   * The blocks of hits by their heights. A block that cannot be read is replaced by its failure: a LaggingNode if the
   * node does not have it.
   */
  readBlocks(hits: readonly Hit[]): Promise<ReadonlyMap<number, Block | NodeFailure>>;
  /**
   * Every transfer of a transaction, whether or not it is dust.
   * @param count How many hits it has.
   * @throws NodeFailure if the receipt does not contain them.
   */
  toTransfers(receipt: Receipt, block: Block, count: number): ChainTransfer[];
}

/**
 * Reads the transactions of hits by their receipts: first those that pay an address at which a payment waits. Dust is
 * not read. A transaction that cannot be read is reported, with the addresses that it pays more than dust; so is one
 * that the node still does not have in later looks.
 * @throws NodeFailure; LaggingNode if a later look may find what is missing. Awaited transfers are handed on before.
 */
export async function readHits(
  { node, request, receipts, misses, unreadable }: Reading,
  hits: readonly Hit[],
  reader: HitReader,
): Promise<Found> {
  if (hits.length === 0) return NOTHING;
  const weights = await weigh(request, hits);
  const dust = hits.filter(hasAmount).filter(hit => weights.get(hit) === 'dust');
  const kept = hits.filter(hit => weights.get(hit) !== 'dust');
  const awaited = new Set(hits.filter(hit => weights.get(hit) === 'awaited').map(hashOf));
  const blocks = kept.length === 0 ? new Map<number, Block>() : await reader.readBlocks(kept);
  const dustOf = Map.groupBy(dust, hashOf);

  const responses: (Receipt | NodeFailure)[] = [];
  const missing: Missing[] = [];
  const read = async (group: readonly Hit[]): Promise<ChainTransfer[]> => {
    const found = await receipts.read(node, group);
    responses.push(...found.values());
    return [...Map.groupBy(group, hashOf)].flatMap(([transactionHash, own]) => {
      const worthless = dustOf.get(transactionHash) ?? [];
      const height = own[0]?.height ?? 0;
      const block = requireBlockOf(node, blocks, own, height);
      const receipt =
        block instanceof NodeFailure ? block : requireReceipt(node, found, transactionHash, block);
      const count = own.length + worthless.length;
      const transfers =
        block instanceof NodeFailure || receipt instanceof NodeFailure
          ? receipt
          : readOrFailure(() => reader.toTransfers(receipt, block, count));
      if (Array.isArray(transfers)) return without(transfers, worthless);
      const watched = [...new Set(own.map(hit => hit.watched))];
      const reason = transfers as NodeFailure;
      const unread = { transactionHash, height, watched, detail: reason.message };
      if (reason instanceof LaggingNode) missing.push({ ...unread, reason });
      else unreadable.push(unread);
      return [];
    });
  };
  const first = await read(kept.filter(hit => awaited.has(hit.transactionHash)));
  if (first.length > 0) await request.takeAwaited?.(first);
  const others = await read(kept.filter(hit => !awaited.has(hit.transactionHash)));
  refuseNoneRead(responses);
  const [again] = misses.count(
    missing,
    hashOf,
    responses.some(each => !(each instanceof NodeFailure)),
  );
  if (again !== undefined) throw again.reason;
  unreadable.push(...missing.map(({ reason: _, ...unread }) => unread));
  return { transfers: [...first, ...others], dust };
}

/** A transaction that the node has listed but does not have. */
interface Missing extends Unreadable {
  readonly transactionHash: string;
  readonly reason: LaggingNode;
}

/** @throws NodeFailure if there are several receipts and none can be read: then the node is at fault. */
function refuseNoneRead(receipts: readonly (Receipt | NodeFailure)[]): void {
  const [first, ...others] = receipts.filter(
    each => each instanceof NodeFailure && !(each instanceof LaggingNode),
  );
  if (first !== undefined && others.length > 0 && others.length + 1 === receipts.length) {
    throw first;
  }
}

/** Weights of the hits whose amount is known. */
async function weigh(
  request: Reading['request'],
  hits: readonly Hit[],
): Promise<Map<Hit, Weight | undefined>> {
  const known = hits.filter(hasAmount);
  const weights: readonly Weight[] =
    (await request.weigh?.(known)) ??
    known.map(each => (each.tokenAmount === 0n ? 'dust' : 'other'));
  return new Map(known.map((hit, index) => [hit, weights[index]]));
}

function hasAmount(hit: Hit): hit is Hit & Arrival {
  return hit.tokenAmount !== undefined;
}

function hashOf({ transactionHash }: Pick<Hit, 'transactionHash'>): string {
  return transactionHash;
}

/** The block of hits, or the failure to read it: a LaggingNode if the hits are of another branch. */
function requireBlockOf(
  node: Node,
  blocks: ReadonlyMap<number, Block | NodeFailure>,
  hits: readonly Hit[],
  height: number,
): Block | NodeFailure {
  const block = blocks.get(height);
  if (block instanceof NodeFailure) return block;
  if (block === undefined || hits.some(({ blockHash }) => blockHash !== block.hash)) {
    return new LaggingNode(`${node.label}: a log of block ${height} came of another branch`);
  }
  return block;
}

/** Removes the dust from the transfers of a transaction: of each amount, as many of the last ones as are dust. */
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
