import type { NodeAbilities } from '#storage/database/watching-tables.ts';
import type { Dependent } from './conflicts.ts';
import type { Holdings } from './holdings.ts';
import type { InternalTransfers } from './internal-transfers.ts';
import type { Node } from './nodes/node.ts';
import type { Block, ChainTransfer, WatchedAddress } from './transfer.ts';

export interface Heads {
  /** The newest block. */
  readonly tip: Block;
  /** Height of the newest block that is final by the chain's own rules; null if it has no such rule (Bitcoin). */
  readonly finalHeight: number | null;
  /**
   * Hash of the block at the cursor; null without a cursor, or if the node has no such block. undefined
   * if the block is final and the node has deleted it (Solana).
   */
  readonly cursorHash: string | null | undefined;
}

/** A transfer to a watched address before the node is asked for its receipt or its block. */
export interface Arrival {
  readonly blockchainId: string;
  readonly transactionHash: string;
  /** The canonical spelling, as in the watch list. */
  readonly address: string;
  /** Integer of the asset's smallest unit; 0 if a token's event says so. */
  readonly tokenAmount: bigint;
}

/**
 * How much a transfer matters. `awaited`: a payment waits at its address. `other`: no payment does, so a person may
 * have to decide. `dust`: it is not recorded as a deposit, and no further call is made for it.
 */
export type Weight = 'awaited' | 'other' | 'dust';

/**
 * An element of a block, such as a transaction or a log, that cannot be read, so that its payments are unknown.
 * The rest of the block is read.
 */
export interface Unreadable {
  /** null if the hash cannot be read either. */
  readonly transactionHash: string | null;
  /** Height of its block; null in the mempool, or if unknown. */
  readonly height: number | null;
  /** For a range of blocks whose last is `height`: the height below the first. A single block unless given. */
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
  /** Lowest height whose block may still be undone; all blocks below it are final. */
  readonly undoableFrom: number;
  /**
   * Hash of the block before `from`, if it is known. A different parent throws NodeFailure: the node may have changed
   * to another branch between `readHeads` and this scan.
   */
  readonly parentHash?: string | null;
  /**
   * Whether the blocks were scanned before, and this scan looks for what the node left out then. If the chain can prove
   * that nothing is left out, at an affordable cost, this scan demands the proof.
   */
  readonly isSecondLook?: true;
  /** Unconfirmed transactions, to find those that conflict with these blocks (Bitcoin). */
  readonly dependents?: readonly Dependent[];
  /** Weighs transfers, which are in the order of the chain. Without it, only transfers of amount 0 are dust. */
  readonly weigh?: (arrivals: readonly Arrival[]) => Promise<readonly Weight[]>;
  /**
   * Receives the transfers to addresses at which payments wait, before the others are read. The result of the scan
   * contains them as well.
   */
  readonly takeAwaited?: (transfers: readonly ChainTransfer[]) => Promise<void>;
}

export interface Scan {
  /** The last block that was scanned: `to`, or an earlier one if the range is too large for one scan. */
  readonly through: Block;
  readonly transfers: readonly ChainTransfer[];
  /** Dust, in the order of the chain. Adapters that do not weigh transfers return it in `transfers`. */
  readonly dust?: readonly Arrival[];
  /** Elements of these blocks that cannot be read. None unless given. */
  readonly unreadable?: readonly Unreadable[];
  /** IDs of those of `dependents` that conflict with a transaction in these blocks. None unless given. */
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
  /** Outputs that the transaction spends, if known (Bitcoin). */
  readonly inputs: readonly string[] | null;
  /** Outputs that its ancestors in the mempool spent, if known (Bitcoin). */
  readonly ancestry?: readonly string[] | null;
  /** The block that it was last seen in; null in the mempool, or if none is known. */
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
  /** Whether the mempool was listed, and every transaction of the list was read. */
  readonly complete: boolean;
  /** Whether another call would read more. If not, and it is not complete, the list is too long to be read. */
  readonly more: boolean;
  /** To be called when the transfers are recorded. Until then every reading returns them again. */
  readonly recorded: () => void;
}

/**
 * Reads one family of chains. An adapter makes calls and parses responses, and decides nothing. An inconsistent
 * response (a block of another height, a log of another block) throws NodeFailure, and so does anything but a list
 * where a list is expected. If a single element of a list cannot be read, it is reported as `unreadable`, and the
 * others are read.
 *
 * Every function throws NodeFailure, and RpcError for an error that the adapter does not understand.
 */
export interface ChainAdapter {
  /**
   * Whether blocks are scanned only once: a second scan would find nothing more (Bitcoin), or is made only for
   * addresses whose payments end (Solana).
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
   * @param listsMempool Whether to list the mempool as well, for `readMempool` (Bitcoin). false unless given: the
   * list of a full mempool has many megabytes.
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
   * and after `scan`. Without watched addresses it makes no call, and transactions listed by then are never read.
   * @param withinMs Skips transactions that entered the node's mempool longer ago, in milliseconds. To be given if
   * the mempool was not listed for a while; null otherwise.
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
  /** `lookUp` for several transactions in as few requests as possible; reports in the order of `requests`. */
  lookUpAll?(node: Node, requests: readonly LookUpRequest[]): Promise<TransactionReport[]>;
  /**
   * The transfers of tokens in a block, proven by its hash, so that the node need not be trusted (EVM).
   * @returns null if the node does not have the block or the proof.
   * @throws NodeFailure, also for a wrong proof.
   */
  proveTransfers?(
    node: Node,
    block: Pick<Block, 'hash'>,
    watch: readonly WatchedAddress[],
  ): Promise<readonly ChainTransfer[] | null>;
  readonly internal?: InternalTransfers;
  /** Balances to check scans against before payments expire; none if blocks prove what is in them (Bitcoin). */
  readonly holdings?: Holdings;
}
