import type { BaseLogger } from 'pino';
import type { ChainAdapter } from '../chains/adapter.ts';
import type { Chain } from '../chains/chain-list.ts';
import type { Database } from '../database/connection.ts';
import type { Node } from '../nodes/node.ts';
import type { Clock } from '../time/clock.ts';
import type { Lease } from './lease.ts';
import type { WatchList } from './watch-list.ts';

/** The nodes of a chain, as a watcher chooses among them. */
export interface ChainNodes {
  /** Reads the nodes again if an operator has changed them. */
  refresh(): Promise<void>;
  /**
   * The first primary node that is well.
   * @throws NodeFailure if there is none.
   */
  primary(signal: AbortSignal): Promise<Node>;
  /**
   * The check node; null where none is configured.
   * @throws NodeFailure if there is one and it cannot be asked.
   */
  check(signal: AbortSignal): Promise<Node | null>;
  /**
   * Takes the height of a node's newest block for true; one that stands still or lags is asked no more.
   * @throws NodeFailure, RpcError if it cannot be true, or the node is not one of the chain.
   */
  acceptHead(nodeId: string, height: number, signal: AbortSignal): Promise<void>;
  /** Tells that a node's answers do not fit together. */
  reportFailure(nodeId: string, failure: Error): void;
  /** Tells that a node serves another chain than it did. */
  distrust(nodeId: string, reason: string): void;
  close(): Promise<void>;
}

/** What every step of a watcher works with. */
export interface Watcher {
  readonly chain: Chain;
  readonly adapter: ChainAdapter;
  readonly nodes: ChainNodes;
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Pick<BaseLogger, 'info' | 'warn' | 'error'>;
  readonly lease: Lease;
  readonly watchList: WatchList;
}
