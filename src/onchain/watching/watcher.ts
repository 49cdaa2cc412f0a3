import type { BaseLogger } from 'pino';
import type { ChainAdapter } from '#chains/adapter.ts';
import type { Chain } from '#chains/chain-list.ts';
import type { NodeSet } from '#chains/nodes/node-set.ts';
import type { Database } from '#storage/database/connection.ts';
import type { Clock } from '#time/clock.ts';
import type { Lease } from './lease.ts';
import type { WatchList } from './watch-list.ts';

/** Context of every step of a watcher. */
export interface Watcher {
  readonly chain: Chain;
  readonly adapter: ChainAdapter;
  readonly nodes: NodeSet;
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Pick<BaseLogger, 'info' | 'warn' | 'error'>;
  readonly lease: Lease;
  readonly watchList: WatchList;
}
