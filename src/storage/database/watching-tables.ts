import type { ColumnType, Generated, Selectable } from 'kysely';
import type { BaseUnits, Day, Defaulted } from './column-types.ts';

/** bigint column: a JavaScript number while it is a safe integer, which the driver checks. */
type Height = number;

export type ChainFamily = 'bitcoin' | 'evm' | 'solana' | 'tron';

/** A chain and how far it has been read; one row for each of 12. */
interface ChainsTable {
  /** That of the chain's native network. */
  id: string;
  position: number;
  family: ChainFamily;
  /** Chain ID or hash of the first block; null before the first node. */
  identity: string | null;
  /** The newest block that was recorded; null before the first one. */
  cursor_height: Height | null;
  cursor_hash: string | null;
  /** The node's newest block and its newest final one, when last asked. */
  head_height: Height | null;
  final_height: Height | null;
  /** Block up to which everything was scanned a second time. */
  swept_height: Height | null;
  /** When the node was last asked. */
  polled_at: Date | null;
  /** Every transfer up to this time is recorded; null while nothing is watched. */
  watched_until: Date | null;
  /**
   * Payments that end by this time may expire: a second scan, and the balances of their addresses, have shown that no
   * transfer was missed; null while nothing is watched.
   */
  expires_until: Date | null;
  lease_holder: string | null;
  /** Rises with each holder, so that a former one can never write. */
  lease_epoch: Defaulted<number>;
  lease_until: Date | null;
  /** Why nothing is written until the node has a recorded block again; null while the chain is watched. */
  halted: string | null;
}

/** The last block of each recorded range, to find where a branch begins. */
interface ChainBlocksTable {
  chain: string;
  height: Height;
  hash: string;
  /** Time of the block. */
  at: Date;
}

export type NodeRole = 'primary' | 'check';

/** What a node is able to do, as found when it was verified. */
export interface NodeAbilities {
  /** Method that traces a block (EVM); null without one. */
  readonly trace: 'debug_traceBlockByNumber' | 'trace_block' | null;
  /** Maximum number of blocks in one log query (EVM, Tron); null if it is not known. */
  readonly logRange: number | null;
  /** Maximum number of calls in one batch; 1 where batches are refused. */
  readonly batch: number;
  /** Whether the node keeps the state of old blocks (EVM). */
  readonly archive: boolean;
  /** The oldest block that the node has; null if it has all. */
  readonly pruneHeight: number | null;
}

interface NodesTable {
  id: string;
  chain: string;
  role: NodeRole;
  position: number;
  /** Unique within the chain; the only name that is shown. */
  label: string;
  /** Sealed JSON of URL and headers. */
  access: Buffer;
  master_key_version: number;
  requests_per_second: number;
  /** Calls that it may be asked on a UTC day; null without a limit. */
  calls_per_day: Defaulted<number | null>;
  abilities: NodeAbilities;
  verified_at: Date;
  created_at: Date;
  updated_at: Date;
}

/**
 * `unknown` was not asked yet, `behind` has no recent block, `failing` does not respond, `refused` is no
 * node of its chain.
 */
export type NodeState = 'unknown' | 'up' | 'behind' | 'failing' | 'refused';

/** What the watcher last saw of a node. */
export interface NodeStatesTable {
  node: string;
  state: NodeState;
  height: Height | null;
  last_error: string | null;
  at: Date;
}

/** Calls that all processes have made to a node. */
interface NodeCallsTable {
  node: string;
  /** The UTC day of `calls`. */
  day: Day;
  calls: number;
  /** Since when calls are counted for the next rate. */
  window_from: Date;
  window_calls: number;
  /** Calls of a whole day at the rate of the previous window; null before the first one. */
  per_day: number | null;
}

/** Something that an operator has to look at. */
interface FindingsTable {
  id: string;
  chain: string;
  kind: string;
  blockchain_id: string | null;
  transaction_hash: string | null;
  position: number | null;
  address: string | null;
  /** Integer of the asset's smallest unit, as text. */
  amount: ColumnType<string | null, bigint | string | null, bigint | string | null>;
  height: Height | null;
  /** The block before the first of several, of which `height` is the last; null for one block. */
  since_height: Height | null;
  detail: string;
  found_at: Date;
  resolved_at: Date | null;
}

/** Blocks that are scanned again for an operator, or for a question of a customer. */
interface RescansTable {
  id: Generated<number>;
  blockchain_id: string;
  from_height: Height;
  to_height: Height;
  next_height: Height;
  asked_by: string;
  asked_at: Date;
  done_at: Date | null;
}

interface HeldBalancesTable {
  blockchain_id: string;
  address: string;
  height: Height;
  /** Integer of the asset's smallest unit, as text. */
  balance: BaseUnits;
}

/** The progress of comparing a UTC day's blocks of a network with the ledger. */
interface NetworkAuditsTable {
  blockchain_id: string;
  /** YYYY-MM-DD. */
  day: string;
  /** null until the day's blocks are found. */
  next_height: Height | null;
  to_height: Height | null;
  differences: Defaulted<number>;
  /** Until when no worker may claim it: one has claimed it, or it was put off. */
  claimed_until: Date | null;
  done_at: Date | null;
}

/** The tables of the watchers. */
export interface WatchingTables {
  network_audits: NetworkAuditsTable;
  chains: ChainsTable;
  chain_blocks: ChainBlocksTable;
  nodes: NodesTable;
  node_states: NodeStatesTable;
  node_calls: NodeCallsTable;
  findings: FindingsTable;
  rescans: RescansTable;
  held_balances: HeldBalancesTable;
}

export type ChainState = Selectable<ChainsTable>;
export type ChainBlock = Selectable<ChainBlocksTable>;
export type NodeRow = Selectable<NodesTable>;
export type Finding = Selectable<FindingsTable>;
export type Rescan = Selectable<RescansTable>;
