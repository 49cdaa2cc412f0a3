import type { Arrival, ScanRequest } from '../adapter.ts';
import type { MissingItems } from '../missing-items.ts';
import { LaggingNode, type Node, NodeFailure } from '../nodes/node.ts';
import type { Block, ChainTransfer } from '../transfer.ts';
import { readEach } from '../unreadable.ts';
import { type Part, readInParts } from './parts.ts';
import { readBlocksAt } from './responses.ts';
import { IN_RESPONSES_OF_THEIR_OWN, type ListedSignature } from './signatures.ts';
import { type SolanaTransaction, transfersOf } from './transfers.ts';

/**
 * Most calls of one look for transactions of earlier slots. With the usual rate limit they take a few seconds; more
 * would delay new transactions.
 */
const CALLS_FOR_EARLIER = 16;

/** Transfers to the watched addresses. */
export interface Found {
  readonly transfers: readonly ChainTransfer[];
  /** In the order of the chain. */
  readonly dust: readonly Arrival[];
  /** What is wrong with transactions that cannot be read, by signature. */
  readonly unreadable: ReadonlyMap<string, string>;
  /** Left for the next look: transactions of earlier slots, and missing ones that the node may have then. */
  readonly left: readonly ListedSignature[];
}

/** A transaction and its transfers, whose block is not known yet. */
interface Hit {
  readonly transaction: SolanaTransaction;
  readonly transfers: readonly ChainTransfer[];
}

/**
 * Reads listed transactions: all in slots from `from` on, then some in earlier slots. Earlier looks have read those,
 * unless a list lagged or the process has just started; there may be thousands, so each look reads a few. Blocks of
 * dust are not read, and awaited transfers are handed on before more is read.
 * @param through The newest block.
 * @throws NodeFailure, RpcError; LaggingNode if there are several and the node has none of them.
 */
export async function readTransfers(
  node: Node,
  listed: readonly ListedSignature[],
  through: Block,
  { from, watch, weigh, takeAwaited }: Omit<ScanRequest, 'to'>,
  misses: MissingItems,
): Promise<Found> {
  const transfers: ChainTransfer[] = [];
  const dust: ChainTransfer[] = [];
  const unreadable = new Map<string, string>();
  // Lists begin with the newest.
  const ordered = listed.toReversed().toSorted((one, other) => one.slot - other.slot);
  const places = new Map(ordered.map(({ signature }, index) => [signature, index]));
  const inOrder = (one: Arrival, other: Arrival) =>
    (places.get(one.transactionHash) ?? 0) - (places.get(other.transactionHash) ?? 0);
  const left = new Map(listed.map(each => [each.signature, each]));
  const missing = new Map<string, LaggingNode>();
  let areOthersThere = false;
  const [earlier, own] = [listed.filter(isEarlier), listed.filter(each => !isEarlier(each))];
  for await (const part of readInParts(node, own)) await take(part);
  let calls = 0;
  for await (const part of readInParts(node, earlier)) {
    await take(part);
    calls += part.calls;
    if (calls >= CALLS_FOR_EARLIER) break;
  }
  giveUp();
  return { transfers, dust: dust.toSorted(inOrder), unreadable, left: [...left.values()] };

  /** Leaves missing transactions to the next look, unless several looks have missed them. */
  function giveUp(): void {
    const again = new Map(misses.count([...missing], ([signature]) => signature, areOthersThere));
    const [first] = again.values();
    if (first !== undefined && missing.size > 1 && !areOthersThere) throw first;
    for (const [signature, { message }] of missing) {
      if (again.has(signature)) continue;
      unreadable.set(signature, message);
      left.delete(signature);
    }
  }

  function isEarlier({ slot }: ListedSignature): boolean {
    return slot < from;
  }

  async function take(part: Part): Promise<void> {
    for (const { signature } of part.transactions) left.delete(signature);
    for (const signature of part.unreadable.keys()) left.delete(signature);
    for (const [signature, detail] of part.unreadable) unreadable.set(signature, detail);
    for (const [signature, failure] of part.missing) missing.set(signature, failure);
    areOthersThere ||= part.transactions.length > 0;
    const hits = readEach(part.transactions, toHit, onUnreadable, IN_RESPONSES_OF_THEIR_OWN);
    const arrived = hits.flatMap(hit => hit.transfers).toSorted(inOrder);
    const weights = (await weigh?.(arrived)) ?? [];
    const weightOf = new Map(arrived.map((transfer, index) => [transfer, weights[index]]));
    const kept = hits
      .map(({ transaction, transfers: all }) => ({
        transaction,
        transfers: all.filter(transfer => weightOf.get(transfer) !== 'dust'),
      }))
      .filter(hit => hit.transfers.length > 0);
    const blocks = await readBlocksOf(kept, part.blocks);
    const hasBlock = ({ transaction: { signature, slot } }: Hit) => {
      const block = blocks.get(slot);
      if (!(block instanceof LaggingNode)) return true;
      missing.set(signature, block);
      const own = listed.find(each => each.signature === signature);
      if (own !== undefined) left.set(signature, own);
      return false;
    };
    const placed = readEach(
      kept.filter(hasBlock),
      hit => hit.transfers.map(transfer => [transfer, withBlock(hit, transfer, blocks)] as const),
      ({ transaction }, detail) => onUnreadable(transaction, detail),
      IN_RESPONSES_OF_THEIR_OWN,
    );
    // Transactions that are left are weighed again with the next look.
    const isDust = (transfer: ChainTransfer) =>
      weightOf.get(transfer) === 'dust' && !missing.has(transfer.transactionHash);
    dust.push(...arrived.filter(isDust));
    transfers.push(...placed.map(([, transfer]) => transfer));
    const awaited = placed.filter(([transfer]) => weightOf.get(transfer) === 'awaited');
    if (awaited.length > 0) await takeAwaited?.(awaited.map(([, transfer]) => transfer));
  }

  function toHit(transaction: SolanaTransaction): readonly Hit[] {
    const found = transfersOf(node, transaction, through, watch);
    return found.length > 0 ? [{ transaction, transfers: found }] : [];
  }

  function onUnreadable({ signature }: SolanaTransaction, detail: string): void {
    unreadable.set(signature, detail);
  }

  async function readBlocksOf(
    hits: readonly Hit[],
    known: Part['blocks'],
  ): Promise<ReadonlyMap<number, Block | NodeFailure>> {
    const missing = hits
      .map(({ transaction }) => transaction.slot)
      .filter(slot => !known.has(slot));
    return new Map([...known, ...(await readBlocksAt(node, missing))]);
  }

  function withBlock(
    { transaction }: Hit,
    transfer: ChainTransfer,
    blocks: ReadonlyMap<number, Block | NodeFailure>,
  ): ChainTransfer {
    const block = blocks.get(transaction.slot);
    if (block === undefined || block instanceof NodeFailure) {
      throw block ?? new NodeFailure(`${node.label} has no block of slot ${transaction.slot}`);
    }
    const { height, hash, time } = block;
    return { ...transfer, block: { height, hash, time } };
  }
}
