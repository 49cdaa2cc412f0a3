import type { Node } from './nodes/node.ts';
import type { ChainTransfer, WatchedAddress } from './transfer.ts';

/** Addresses whose balances at one block are read (native EVM assets). */
export interface BalanceQuery {
  readonly height: number;
  /** The block must have this hash; null for any block that the node's chain has at the height. */
  readonly hash: string | null;
  readonly addresses: readonly string[];
}

/** A change of a native balance by a top-level transaction of a block. */
export interface Movement {
  readonly address: string;
  /** Positive in, negative out, fees included. */
  readonly amount: bigint;
}

/** Transfers that the trace of a block shows. */
export interface Traced {
  /** To watched addresses. */
  readonly transfers: readonly ChainTransfer[];
  /** Hashes of the block's transactions whose traces are missing or cannot be read. */
  readonly unread: ReadonlySet<string>;
}

/** Finds transfers of the native asset that contracts make. */
export interface InternalTransfers {
  /** Balances at one block, in the order of the addresses; null for one that cannot be read. */
  readBalances(node: Node, query: BalanceQuery): Promise<readonly (bigint | null)[]>;
  /** Movements to and from the addresses by top-level transactions of a block. */
  readMovements(
    node: Node,
    height: number,
    addresses: readonly string[],
  ): Promise<readonly Movement[]>;
  /**
   * Transfers of a block to the addresses, as far as only a trace shows them.
   * @returns null if the node does not trace.
   */
  trace(node: Node, height: number, watch: readonly WatchedAddress[]): Promise<Traced | null>;
}
