import type { MempoolReading, WatchedAddress } from '../../chains/adapter.ts';
import type { ChainState } from '../../database/watching-tables.ts';
import type { Node } from '../../nodes/node.ts';
import { findOldestReservation } from '../../repositories/watch-list.ts';
import { LATE_FOR_MS } from '../../settlement/match-transfer.ts';
import type { Watcher } from '../watcher.ts';
import { askedSince, recordSeen } from './record-seen.ts';
import { reportUnreadable } from './unreadable.ts';

/** How far the clock of a node may be behind, in milliseconds. */
const CLOCK_SKEW_MS = 60_000;

/** Reads the mempool of a chain that has one. */
export interface Mempool {
  /**
   * Records what is new in the mempool.
   * @throws NodeFailure, LeaseLost.
   */
  read(state: ChainState, node: Node, watch: readonly WatchedAddress[]): Promise<Progress>;
}

type Progress = Pick<MempoolReading, 'complete' | 'more'>;

/** Of a chain without a mempool. */
const NOTHING_TO_READ: Progress = { complete: true, more: false };

export function createMempool(watcher: Watcher): Mempool {
  const { adapter, chain, clock, db, log } = watcher;
  let wasRead = false;

  return {
    async read(state, node, watch) {
      if (adapter.readMempool === undefined) return NOTHING_TO_READ;
      const reading = await adapter.readMempool(node, watch, await enteredSince(watch));
      const { transfers, unreadable = [], complete, more, recorded } = reading;
      const since = askedSince(watcher, state.watched_until);
      const now = new Date(clock());
      await recordSeen(watcher, transfers, { last: state, askedSince: since }, tx =>
        reportUnreadable(tx, chain.id, unreadable, now),
      );
      recorded();
      if (!complete && !more) {
        log.warn({ chain: chain.id, node: node.label }, 'mempool is too long to be listed');
      }
      return { complete, more };
    },
  };

  /** What entered the mempool before the oldest reservation need not be read when a worker starts. */
  async function enteredSince(watch: readonly WatchedAddress[]): Promise<Date | null> {
    if (watch.length === 0 || wasRead) return null;
    wasRead = true;
    const oldest = await findOldestReservation(db, chain.id, new Date(clock() - LATE_FOR_MS));
    return oldest === null ? null : new Date(oldest.getTime() - CLOCK_SKEW_MS);
  }
}
