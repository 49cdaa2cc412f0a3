import type { NodeAbilities } from '#storage/database/watching-tables.ts';
import type { Dependent } from './dependent.ts';
import type { Holdings } from './holdings.ts';
import type { InternalTransfers } from './internal-transfers.ts';
import type { Node } from './nodes/node.ts';
import type { Block, ChainTransfer, WatchedAddress } from './transfer.ts';

export interface Heads {
  /** The newest block. */
  readonly tip: Block;
  /** Height of the newest block that is final by the chain's own rules; null where it has none (Bitcoin). */
  readonly finalHeight: number | null;
  /**
   * Hash of the block at the cursor; null without a cursor, and when the node has no such block. undefined
   * where the node keeps it no more, and it is final (Solana).
   */
  readonly cursorHash: string | null | undefined;
}

/** A transfer to a watched address before the node is asked for its receipt or its block. */
export interface Arrival {
  readonly blockchainId: string;
  readonly transactionHash: string;
  /** The canonical spelling, as in the watch list. */
  readonly address: string;
  /** Integer of the asset's smallest unit; 0 where a token's event says so. */
  readonly tokenAmount: bigint;
}

/**
 * How much a transfer matters. `awaited`: a payment waits at its address. `other`: none does, so that a person may
 * have to decide. `dust`: no further call is made for it, and it becomes no deposit.
 */
export type Weight = 'awaited' | 'other' | 'dust';

/**
 * An element of a block, such as a transaction or a log, that cannot be read, so that its payments are unknown.
 * The rest of the block is read.
 */
export interface Unreadable {
  /** null where the hash cannot be read either. */
  readonly transactionHash: string | null;
  /** Height of its block; null in the mempool, and where that is not known. */
  readonly height: number | null;
  /** The height below the first of several blocks, of which `height` is the last; one block unless given. */
  readonly sinceHeight?: number;
  /** The watched addresses that it may have paid, as far as it names any. */
  readonly watched: readonly WatchedAddress[];
  /** What it is, and what is wrong with it, for an operator. */
  readonly detail: string;
}

export interface ScanRequest {
  /** First and last height, both included; `to` is at most the tip. */
  readonly from: number;
  readonly to: number;
  readonly watch: readonly WatchedAddress[];
  /** Height from which on blocks may still be undone; all are final below it. */
  readonly undoableFrom: number;
  /**
   * Hash of the block before `from`, where it is known. Another parent is a NodeFailure: between `readHeads` and
   * this scan the node may have changed to another branch.
   */
  readonly parentHash?: string | null;
  /**
   * Whether the blocks were scanned before, so that this scan looks for what that one was not told. Where a chain can
   * prove that nothing is left out, and it is affordable, this scan demands the proof.
   */
  readonly isSecondLook?: true;
  /** Transactions in no block, of which it matters whether these blocks undo them (Bitcoin). */
  readonly dependents?: readonly Dependent[];
  /** Weighs transfers, in the order of the chain. Without it those of nothing alone are dust. */
  readonly weigh?: (arrivals: readonly Arrival[]) => Promise<readonly Weight[]>;
  /**
   * Gets the transfers to addresses at which payments wait, before the others are read. They are among the
   * transfers of the scan as well.
   */
  readonly takeAwaited?: (transfers: readonly ChainTransfer[]) => Promise<void>;
}

export interface Scan {
  /** The last block that was scanned: `to`, or an earlier one where the range is too large for one scan. */
  readonly through: Block;
  readonly transfers: readonly ChainTransfer[];
  /** Dust, in the order of the chain. Adapters that do not weigh have it among the transfers. */
  readonly dust?: readonly Arrival[];
  /** Elements of these blocks that cannot be read. None unless given. */
  readonly unreadable?: readonly Unreadable[];
  /** IDs of those of `dependents` in place of which these blocks have another transaction. None unless given. */
  readonly conflicts?: ReadonlySet<string>;
}

/** A transfer to a watched address in an asset that is not watched there, such as a worthless look-alike. */
export interface ForeignTransfer {
  readonly address: string;
  /** The asset's contract or token; null for the chain's native asset. */
  readonly contract: string | null;
}

/** The state of a transaction, as one node shows it. */
export type TransactionReport =
  | {
      readonly status: 'included';
      readonly block: Block;
      /** Its transfers to the watched addresses. */
      readonly transfers: readonly ChainTransfer[];
      readonly foreign: readonly ForeignTransfer[];
      /** The node has not traced the block: transfers by contracts may be missing (native EVM assets). */
      readonly untraced?: true;
    }
  /** In a block, and reverted. */
  | { readonly status: 'failed'; readonly block: Block }
  | { readonly status: 'pending'; readonly transfers: readonly ChainTransfer[] }
  /** Another transaction has spent its inputs, or those of an ancestor that was not in a block (Bitcoin). */
  | { readonly status: 'replaced' }
  /** The node has it, but it cannot be read, so that its transfers are unknown. */
  | { readonly status: 'unreadable'; readonly detail: string }
  | { readonly status: 'unknown' };

export interface LookUpRequest {
  readonly transactionHash: string;
  readonly watch: readonly WatchedAddress[];
  /** Outputs that the transaction spends, where they are known (Bitcoin). */
  readonly inputs: readonly string[] | null;
  /** Outputs that its ancestors spent in the mempool, where they are known (Bitcoin). */
  readonly ancestry?: readonly string[] | null;
  /** The block that it was last seen in; null in the mempool, and where none is known. */
  readonly blockHash: string | null;
  /**
   * Whether only a final block of the responding server counts (Solana, where servers behind one URL may be on
   * different branches). false unless given.
   */
  readonly isFinal?: boolean;
}

/** Transfers of a mempool (Bitcoin). */
export interface MempoolReading {
  readonly transfers: readonly ChainTransfer[];
  /** Transactions that cannot be read. None unless given. */
  readonly unreadable?: readonly Unreadable[];
  /** Whether every transaction of the list was read. */
  readonly complete: boolean;
  /** Whether the next call goes on where this one ended; false where the list is too long to be read. */
  readonly more: boolean;
  /** To be called when the transfers are recorded. Until then every reading contains them. */
  readonly recorded: () => void;
}

/**
 * How one family of chains is read. An adapter asks and parses, and decides nothing. Inconsistent responses (a
 * block of another height, a log of another block) are a NodeFailure, and so is anything but a list where a list
 * was asked for. A single element of a list that cannot be read stops nothing: it is reported as `unreadable`,
 * beside the transfers of the others.
 *
 * Every function throws NodeFailure, and RpcError for an error that the adapter does not understand.
 */
export interface ChainAdapter {
  /**
   * Whether blocks are scanned only once: a second scan would find nothing more (Bitcoin), or is made of the addresses
   * alone whose payments end (Solana).
   */
  readonly looksOnce?: true;
  /** Chain ID in decimals, or the hash of the first block. */
  identify(node: Node): Promise<string>;
  /** What the node is able to do. */
  probe(node: Node): Promise<NodeAbilities>;
  /** Decimals of a token, as its contract says; undefined if there is no such contract. */
  readDecimals(node: Node, contract: string): Promise<number | undefined>;
  /**
   * One request for the newest block, the final one and the hash at the cursor.
   * @param listsMempool Whether it also takes the list of the mempool that `readMempool` goes through
   * (Bitcoin). Not unless given: the list of a full one is many megabytes long.
   */
  readHeads(node: Node, cursorHeight: number | null, listsMempool?: boolean): Promise<Heads>;
  /**
   * Height of the newest block, by the cheapest call there is: nodes that are not in use are asked for it every
   * minute.
   */
  readHeight(node: Node): Promise<number>;
  /** null if the node's best chain has no block of this height. */
  readBlock(node: Node, height: number): Promise<Block | null>;
  scan(node: Node, request: ScanRequest): Promise<Scan>;
  /**
   * Transfers in the mempool that no earlier reading had (Bitcoin). To be called after `readHeads` has listed it,
   * and after `scan`. Without watched addresses no call is made, and transactions listed by then are never read.
   * @param withinMs Ignores what entered the node's mempool longer ago, in milliseconds: to be given when the
   * mempool was not listed for a while, and null after that.
   */
  readMempool?(
    node: Node,
    watch: readonly WatchedAddress[],
    withinMs?: number | null,
  ): Promise<MempoolReading>;
  /** Whether a transaction was in the mempool when it was last listed (Bitcoin). */
  isInMempool?(transactionHash: string): boolean;
  /**
   * Whether the mempool has to be listed with every look, because its node cannot say when each transaction
   * entered it (Bitcoin).
   */
  mustListMempool?(): boolean;
  lookUp(node: Node, request: LookUpRequest): Promise<TransactionReport>;
  /** The same for several, in as few requests as they take; reports in the order of the requests. */
  lookUpAll?(node: Node, requests: readonly LookUpRequest[]): Promise<TransactionReport[]>;
  /**
   * The transfers of tokens in a block that are proven by what its hash contains, whoever shows them (EVM).
   * @returns null where the node does not have the block or what proves it.
   * @throws NodeFailure also for a proof that is wrong.
   */
  proveTransfers?(
    node: Node,
    block: Pick<Block, 'hash'>,
    watch: readonly WatchedAddress[],
  ): Promise<readonly ChainTransfer[] | null>;
  readonly internal?: InternalTransfers;
  /** Balances by which a scan is checked before payments expire; none where blocks prove what is in them (Bitcoin). */
  readonly holdings?: Holdings;
}
