import { type Node, NodeFailure } from '../nodes/node.ts';
import { type Receipt, readReceipts } from './receipts.ts';

/** Receipts that are kept, and all their logs: some 20 MB. */
const KEPT_MAXIMUM = 20_000;

/**
 * Keeps receipts from the first scan of a block to the second, so that the same node is not asked for them twice.
 * If the transaction is in another block by then, its receipt is asked for again.
 */
export class ReceiptMemory {
  readonly #receipts = new Map<string, Receipt>();
  /** Number of receipts and logs that are kept. */
  #kept = 0;

  /**
   * The receipts of these transactions, by their hashes; those without one are left out. A receipt that cannot
   * be read is replaced by its failure, even if none can be read.
   */
  async read(
    node: Node,
    wanted: readonly { readonly transactionHash: string; readonly blockHash: string }[],
  ): Promise<Map<string, Receipt | NodeFailure>> {
    const found = new Map<string, Receipt | NodeFailure>();
    const missing = new Set<string>();
    for (const { transactionHash, blockHash } of wanted) {
      if (found.has(transactionHash)) continue;
      const kept = this.#take(`${node.id} ${transactionHash}`);
      if (kept?.blockHash === blockHash) found.set(transactionHash, kept);
      else missing.add(transactionHash);
    }
    for (const [hash, receipt] of await readReceipts(node, [...missing], true)) {
      if (!(receipt instanceof NodeFailure)) this.#keep(`${node.id} ${hash}`, receipt);
      found.set(hash, receipt);
    }
    return found;
  }

  #take(key: string): Receipt | undefined {
    const receipt = this.#receipts.get(key);
    if (receipt !== undefined) this.#kept -= countOf(receipt);
    this.#receipts.delete(key);
    return receipt;
  }

  #keep(key: string, receipt: Receipt): void {
    this.#take(key);
    this.#receipts.set(key, receipt);
    this.#kept += countOf(receipt);
    for (const oldest of this.#receipts.keys()) {
      if (this.#kept <= KEPT_MAXIMUM) break;
      this.#take(oldest);
    }
  }
}

function countOf({ logs }: Receipt): number {
  return 1 + logs.length;
}
