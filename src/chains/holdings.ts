import type { Node } from './nodes/node.ts';
import type { Block, WatchedAddress } from './transfer.ts';

/** What watched addresses hold, each in the asset of its network. */
export interface Held {
  /** Height of the block after which they hold it. */
  readonly height: number;
  /** Integers of the assets' smallest units, in the order asked for; null for one that cannot be read. */
  readonly balances: readonly (bigint | null)[];
}

/** What moved the balance of a watched address, as one node shows it. */
export interface Moved {
  /** Sum of all that arrived, dust included, in the asset's smallest unit. */
  readonly arrived: bigint;
  /** Sum of all that left, fees included where they are paid in the asset. */
  readonly left: bigint;
}

/**
 * Balances, and what moved them. A scan shows what a node tells of; a balance that rose by more than that shows that
 * it has left something out.
 */
export interface Holdings {
  /**
   * Most addresses of one `read`, where a node answers for so many at one block only. Any number unless given.
   */
  readonly together?: number;
  /**
   * Whether what moved balances is read wherever payments end, explained or not, by another node where there is one: no
   * blocks are scanned a second time there (Solana).
   */
  readonly isSecondLook?: true;
  /**
   * Balances after a block. Where a node knows only those after its newest final block (Tron, Solana), they are of
   * that one, which must not be below the block that was asked for.
   * @throws NodeFailure, also where the node has not reached the block, or has another one there.
   */
  read(
    node: Node,
    block: Pick<Block, 'height' | 'hash'>,
    watch: readonly WatchedAddress[],
  ): Promise<Held>;
  /**
   * What moved the balances in the blocks above `from` up to `to`, in the order of `watch`; null where there is too much to
   * read, or what cannot be read (Solana).
   * @throws NodeFailure
   */
  readMoved(
    node: Node,
    range: { readonly from: number; readonly to: number },
    watch: readonly WatchedAddress[],
  ): Promise<readonly (Moved | null)[]>;
}
