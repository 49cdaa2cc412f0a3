import type { Node } from '../nodes/node.ts';
import type { Block } from '../transfer.ts';
import {
  type ListedSignature,
  type ReadTransactions,
  readTransactions,
  TOGETHER,
} from './signatures.ts';
import { readWholeBlock } from './whole-blocks.ts';

/** Blocks that are read at once: each is some MB long, and may take longer than a slot. */
const BLOCKS_TOGETHER = 4;
/** Refused blocks after which a node is not asked for blocks any more. */
const REFUSALS_MAXIMUM = BLOCKS_TOGETHER;

/** Some of the transactions that are to be read, with the blocks that were read on the way, by slot. */
export interface Part extends ReadTransactions {
  readonly blocks: ReadonlyMap<number, Block>;
  /** How many calls it took. */
  readonly calls: number;
}

/**
 * Reads transactions part by part. Anyone can make thousands of them at any address, so only a few are read
 * one by one: if there are more, those that share a slot are read from its block by a single call. Of each
 * account the newest come first, so that many at one account do not delay the others.
 * @throws NodeFailure, RpcError.
 */
export async function* readInParts(
  node: Node,
  listed: readonly ListedSignature[],
): AsyncGenerator<Part> {
  const isMany = listed.length > TOGETHER;
  const alone: string[] = [];
  let whole: (readonly ListedSignature[])[] = [];
  let refusals = 0;
  for (const own of Map.groupBy(inFairOrder(listed), ({ slot }) => slot).values()) {
    if (isMany && own.length > 1 && refusals < REFUSALS_MAXIMUM) whole.push(own);
    else alone.push(...own.map(({ signature }) => signature));
    if (whole.length === BLOCKS_TOGETHER) yield await readWhole();
    while (alone.length >= TOGETHER) yield await readAlone();
  }
  if (whole.length > 0) yield await readWhole();
  while (alone.length > 0) yield await readAlone();

  async function readAlone(): Promise<Part> {
    const together = alone.splice(0, TOGETHER);
    const read = await readTransactions(node, together);
    return { ...read, blocks: new Map(), calls: together.length };
  }

  /** Transactions that the blocks do not show are read one by one later. */
  async function readWhole(): Promise<Part> {
    const blocks = new Map<number, Block>();
    const read = await Promise.all(
      whole.map(async own => {
        const signatures = new Set(own.map(({ signature }) => signature));
        const found = await readWholeBlock(node, own[0]?.slot ?? 0, signatures);
        if (found === undefined) refusals += 1;
        else blocks.set(found.block.height, found.block);
        const transactions = found?.transactions ?? [];
        for (const { signature } of transactions) signatures.delete(signature);
        alone.push(...signatures);
        return transactions;
      }),
    );
    const calls = whole.length;
    whole = [];
    const none = new Map();
    return { transactions: read.flat(), unreadable: none, missing: none, blocks, calls };
  }
}

/** Orders transactions by how many newer ones the same account has. */
function inFairOrder(listed: readonly ListedSignature[]): ListedSignature[] {
  const newer = new Map<string, number>();
  const ranked = listed
    .toSorted((one, other) => other.slot - one.slot)
    .map(each => {
      const accounts = [...each.accounts];
      const rank = Math.min(...accounts.map(account => newer.get(account) ?? 0));
      for (const account of accounts) newer.set(account, (newer.get(account) ?? 0) + 1);
      return { each, rank };
    });
  return ranked.toSorted((one, other) => one.rank - other.rank).map(({ each }) => each);
}
