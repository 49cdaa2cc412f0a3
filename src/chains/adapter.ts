import type { NodeAbilities } from '../database/watching-tables.ts';
import type { Node } from '../nodes/node.ts';

/** A block of the node's best chain. */
export interface Block {
  readonly height: number;
  /** As the chain writes it: 0x and lower case on EVM, hex without 0x on Bitcoin and Tron, base58 on Solana. */
  readonly hash: string;
  readonly parentHash: string;
  readonly time: Date;
}

/** A network of the chain, as watchers need it. */
export interface WatchedNetwork {
  readonly id: string;
  /** The token's contract in its canonical spelling; null for the native asset. */
  readonly contract: string | null;
}

/** An address that transfers on a network may arrive at, in its canonical spelling. */
export interface WatchedAddress {
  readonly network: WatchedNetwork;
  readonly address: string;
}

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

/** A transfer to a watched address, in a block or in the mempool. */
export interface ChainTransfer {
  /** Network, for example `eth-usdt`. */
  readonly blockchainId: string;
  readonly transactionHash: string;
  /** Unique within the transaction, and the same in whatever block it is. */
  readonly position: number;
  /** The canonical spelling, as in the watch list. */
  readonly address: string;
  /** Integer of the asset's smallest unit, more than 0. */
  readonly tokenAmount: bigint;
  /** null in the mempool. */
  readonly block: Pick<Block, 'height' | 'hash' | 'time'> | null;
  /**
   * When the node's mempool got it, by the node's clock, where that was asked: it may have come before it was
   * looked for (Bitcoin).
   */
  readonly enteredAt?: Date;
  /** Outputs that the transaction spends, as `hash:index` (Bitcoin); null elsewhere. */
  readonly inputs: readonly string[] | null;
  /** Blocks that the chain demands before it can be spent: 100 for a coinbase output, otherwise 1. */
  readonly maturity: number;
  /** Accounts by which a wallet may have marked the payment that it is for (Solana Pay); none elsewhere. */
  readonly references?: readonly string[];
}

/** A transfer to a watched address before anything more is asked about it. */
export interface Arrival {
  readonly blockchainId: string;
  readonly transactionHash: string;
  /** The canonical spelling, as in the watch list. */
  readonly address: string;
  /** Integer of the asset's smallest unit; 0 where a token's event says so. */
  readonly tokenAmount: bigint;
}

/**
 * How much a transfer matters: a payment waits at its address; none does, and a person may have to decide;
 * or it is dust, which costs no further question and becomes no deposit.
 */
export type Weight = 'awaited' | 'other' | 'dust';

/**
 * An element of a block, such as a transaction or a log, that cannot be read, so that nobody knows what it
 * pays. The rest of the block is read.
 */
export interface Unreadable {
  /** null where not even that can be read. */
  readonly transactionHash: string | null;
  /** Height of its block; null in the mempool, and where that is not known. */
  readonly height: number | null;
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
   * Hash of the block before `from`, where it is known. A branch that begins elsewhere is a NodeFailure:
   * between `readHeads` and this scan the node may have changed its mind.
   */
  readonly parentHash?: string | null;
  /**
   * Watched addresses whose payments end. Nothing of them may be left for later: they are looked at once more,
   * for what is final (Solana).
   */
  readonly ending?: readonly string[];
  /** Weighs transfers, in the order of the chain. Without it those of nothing alone are dust. */
  readonly weigh?: (arrivals: readonly Arrival[]) => Promise<readonly Weight[]>;
  /**
   * Takes the transfers to addresses at which payments wait, before anything is asked about others. They are
   * among the transfers of the scan as well.
   */
  readonly takeAwaited?: (transfers: readonly ChainTransfer[]) => Promise<void>;
}

export interface Scan {
  /** The last block that was scanned: `to`, or an earlier one where so many blocks are too much at once. */
  readonly through: Block;
  readonly transfers: readonly ChainTransfer[];
  /** What was left out as dust, in the order of the chain. Adapters that do not weigh tell it as transfers. */
  readonly dust?: readonly Arrival[];
  /** What of these blocks cannot be read. None unless given. */
  readonly unreadable?: readonly Unreadable[];
  /** Whether there was too much at addresses whose payments end, so that they must not end yet (Solana). */
  readonly isEndingLeft?: boolean;
}

/** A transfer of something else to a watched address: another contract, or a worthless look-alike. */
export interface ForeignTransfer {
  readonly address: string;
  /** The contract or token it is of; null for another native asset. */
  readonly contract: string | null;
}

/** What became of a transaction, as one node sees it. */
export type TransactionReport =
  | {
      readonly status: 'included';
      readonly block: Block;
      /** Its transfers to the watched addresses. */
      readonly transfers: readonly ChainTransfer[];
      readonly foreign: readonly ForeignTransfer[];
      /** Contracts may have sent more: the node has not traced the block (native EVM assets). */
      readonly untraced?: true;
    }
  /** In a block, and without effect. */
  | { readonly status: 'failed'; readonly block: Block }
  | { readonly status: 'pending'; readonly transfers: readonly ChainTransfer[] }
  /** Another transaction has spent what it spends (Bitcoin). */
  | { readonly status: 'replaced' }
  /** The node has it, and it cannot be read: nobody knows what it pays. */
  | { readonly status: 'unreadable'; readonly detail: string }
  | { readonly status: 'unknown' };

export interface LookUpRequest {
  readonly transactionHash: string;
  readonly watch: readonly WatchedAddress[];
  /** What the transaction spends, where that is known (Bitcoin). */
  readonly inputs: readonly string[] | null;
  /** The block that it was last seen in; null in the mempool, and where nothing is known. */
  readonly blockHash: string | null;
  /**
   * Whether only a block that is final by the chain's own rules counts, as the server that is asked sees it
   * (Solana, where servers behind one URL may be on different branches). Not so unless given.
   */
  readonly isFinal?: boolean;
}

/** Transfers of a mempool (Bitcoin). */
export interface MempoolReading {
  readonly transfers: readonly ChainTransfer[];
  /** What of it cannot be read. None unless given. */
  readonly unreadable?: readonly Unreadable[];
  /** Whether all of the list was gone through. */
  readonly complete: boolean;
  /** Whether the next call goes on where this one ended; not so where the list is too long to be read. */
  readonly more: boolean;
  /** To be called when the transfers are recorded. Until then they are told by each reading. */
  readonly recorded: () => void;
}

/** A watched address whose balance may rise without a transfer that a scan sees (native EVM assets). */
export interface BalanceQuery {
  readonly height: number;
  /** The block must have this hash; null for whatever the node's chain has at the height. */
  readonly hash: string | null;
  readonly addresses: readonly string[];
}

/** What a block did to a native balance, as far as its top-level transactions tell. */
export interface Movement {
  readonly address: string;
  /** Positive in, negative out, fees included. */
  readonly amount: bigint;
}

/** What the trace of a block shows. */
export interface Traced {
  /** To watched addresses. */
  readonly transfers: readonly ChainTransfer[];
  /** Hashes of the block's transactions whose traces are missing or cannot be read. */
  readonly unread: ReadonlySet<string>;
}

/** Finds transfers that contracts make in the native asset. */
export interface InternalTransfers {
  /** Balances at one block, in the order of the addresses; null for one that cannot be read. */
  readBalances(node: Node, query: BalanceQuery): Promise<readonly (bigint | null)[]>;
  /** What top-level transactions of a block moved to or from the addresses. */
  readMovements(
    node: Node,
    height: number,
    addresses: readonly string[],
  ): Promise<readonly Movement[]>;
  /**
   * Transfers of a block to the addresses that only a trace shows.
   * @returns null if the node does not trace.
   */
  trace(node: Node, height: number, watch: readonly WatchedAddress[]): Promise<Traced | null>;
}

/**
 * How one family of chains is read. An adapter asks and parses, and decides nothing. What does not fit
 * together (a block of another height, a log of another block) is a NodeFailure, and so is a response that is
 * no list where one was asked for. A single element of a list that cannot be read stops nothing: it is told
 * as `unreadable`, beside what the others pay.
 *
 * Every function throws NodeFailure, and RpcError for an error that the adapter does not understand.
 */
export interface ChainAdapter {
  /** Whether a second look at the same blocks would find nothing more (Solana). */
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
   * Height of the newest block, by the cheapest call there is: nodes that are not in use are asked for it all
   * the time.
   */
  readHeight(node: Node): Promise<number>;
  /** null if the node's best chain has no block of this height. */
  readBlock(node: Node, height: number): Promise<Block | null>;
  scan(node: Node, request: ScanRequest): Promise<Scan>;
  /**
   * Transfers in the mempool that were not told before (Bitcoin). To be called after a list was taken, and
   * after `scan`; without watched addresses it costs nothing, and what is in the mempool is never asked for.
   * @param withinMs What entered the node's mempool longer ago is of no interest, in milliseconds: to be given
   * when the mempool was not listed for a while, and null after that.
   */
  readMempool?(
    node: Node,
    watch: readonly WatchedAddress[],
    withinMs?: number | null,
  ): Promise<MempoolReading>;
  /** Whether a transaction was in the mempool when it was last listed (Bitcoin). */
  isInMempool?(transactionHash: string): boolean;
  /**
   * Whether the mempool has to be listed all the time, because its node cannot tell which of many
   * transactions came before a moment (Bitcoin).
   */
  mustListMempool?(): boolean;
  lookUp(node: Node, request: LookUpRequest): Promise<TransactionReport>;
  /** The same for several, in as few requests as they take; reports in the order of the requests. */
  lookUpAll?(node: Node, requests: readonly LookUpRequest[]): Promise<TransactionReport[]>;
  readonly internal?: InternalTransfers;
}
