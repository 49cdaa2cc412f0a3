import { type Dependent, isKin } from '../conflicts.ts';
import type { Node } from '../nodes/node.ts';
import { askBlock } from './blocks.ts';

/** Blocks to search: as many as another branch may replace, and as watchers go back. */
const SEARCHED = 12;

/** Blocks to remember: the searched branch and one that replaced it. A full block takes about 1 MB here. */
const REMEMBERED = 2 * SEARCHED;

interface Summary {
  readonly parentHash: string;
  readonly ids: ReadonlySet<string>;
  /** The transaction that spends each output. */
  readonly spentBy: ReadonlyMap<string, string>;
}

/** Searches the newest blocks themselves, so that the node's responses about them need not be trusted. */
export class RecentBlocks {
  readonly #summaries = new Map<string, Promise<Summary>>();

  /**
   * @param tip The newest block.
   * @returns The block that contains the transaction; `spent` if a block spends one of the outputs by a transaction
   * that is neither this one nor an ancestor; undefined otherwise.
   */
  async search(
    node: Node,
    tip: string,
    sought: Dependent,
    outputs: readonly string[],
  ): Promise<{ readonly hash: string } | 'spent' | undefined> {
    let hash = tip;
    for (let count = 0; count < SEARCHED; count += 1) {
      const { ids, spentBy, parentHash } = await this.#summary(node, hash);
      if (ids.has(sought.id)) return { hash };
      const spenders = outputs.flatMap(output => spentBy.get(output) ?? []);
      if (spenders.some(spender => !isKin(spender, sought))) return 'spent';
      // The first block has no parent.
      if (/^0+$/.test(parentHash)) break;
      hash = parentHash;
    }
    return undefined;
  }

  #summary(node: Node, hash: string): Promise<Summary> {
    // Concurrent look-ups share the response.
    const summary = this.#summaries.get(hash) ?? readSummary(node, hash);
    this.#summaries.delete(hash);
    this.#summaries.set(hash, summary);
    summary.catch(() => this.#summaries.delete(hash));
    // The first entry is the least recently used one.
    for (const oldest of this.#summaries.keys()) {
      if (this.#summaries.size <= REMEMBERED) break;
      this.#summaries.delete(oldest);
    }
    return summary;
  }
}

async function readSummary(node: Node, hash: string): Promise<Summary> {
  const { parentHash, transactions, unreadable } = await askBlock(node, hash);
  return {
    parentHash,
    ids: new Set([...transactions, ...unreadable].map(({ id }) => id)),
    spentBy: new Map(transactions.flatMap(({ id, inputs }) => inputs.map(input => [input, id]))),
  };
}
