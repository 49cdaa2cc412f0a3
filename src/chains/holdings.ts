import type { Node } from './nodes/node.ts';
import type { Block, WatchedAddress } from './transfer.ts';

/** What watched addresses hold, each in the asset of its network. */
export interface Held {
  /** Height of the block after which they hold it. */
  readonly height: number;
  /** Integers of the assets' smallest units, in the order of the addresses; null for one that cannot be read. */
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
 * Balances, and what moved them. A balance that rose by more than the scanned transfers shows that the node has left
 * something out.
 */
export interface Holdings {
  /**
   * Maximum number of addresses per `read`, if a node can read only so many at one block. Unlimited unless given.
   */
  readonly together?: number;
  /**
   * Whether what moved a balance is read wherever payments end, even if the balance is explained, and by another node
   * if there is one: this takes the place of a second scan of blocks (Solana).
   */
  readonly isSecondLook?: true;
  /**
   * Balances after a block. If a node knows only those after its newest final block (Tron, Solana), they are of
   * that block, which must not be below the requested one.
   * @throws NodeFailure, also if the node has not reached the block, or has another one at its height.
   */
  read(
    node: Node,
    block: Pick<Block, 'height' | 'hash'>,
    watch: readonly WatchedAddress[],
  ): Promise<Held>;
  /**
   * What moved the balances in the blocks above `from` up to `to`, in the order of `watch`; null if there is too much
   * to read, or something that cannot be read (Solana).
   * @throws NodeFailure
   */
  readMoved(
    node: Node,
    range: { readonly from: number; readonly to: number },
    watch: readonly WatchedAddress[],
  ): Promise<readonly (Moved | null)[]>;
}
