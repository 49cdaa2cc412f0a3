import type { MempoolReading } from '../../chains/adapter.ts';
import type { WatchedAddress } from '../../chains/transfer.ts';
import { findOldestReservation } from '../../repositories/chains/watch-list.ts';
import { LATE_FOR_MS } from '../../settlement/match-transfer.ts';
import type { Watcher } from '../watcher.ts';
import { askedSince, recordSeen } from './record-seen.ts';
import type { Round } from './round.ts';
import { reportUnreadable } from './unreadable.ts';

/** Reads the mempool of a chain that has one, while a payment is open there. */
export interface Mempool {
  /**
   * Whether its list is to be taken with the heads: while the watch list has an open payment, until all of it
   * was gone through once after a start, and where its node could not tell later what is new.
   */
  isListed(): boolean;
  /**
   * Records what is new in the mempool, if it was listed with the heads. What came while no payment was open
   * is no open payment's, and is told by its block.
   * @throws NodeFailure, LeaseLost.
   */
  read(
    round: Pick<Round, 'state' | 'node' | 'isListed'>,
    watch: readonly WatchedAddress[],
  ): Promise<Progress>;
}

type Progress = Pick<MempoolReading, 'complete' | 'more'>;

/** Of a chain without a mempool, or without an open payment. */
const NOTHING_TO_READ: Progress = { complete: true, more: false };
/** A payment was opened since the heads were asked for. */
const TO_BE_LISTED: Progress = { complete: false, more: true };

export function createMempool(watcher: Watcher): Mempool {
  const { adapter, chain, clock, db, log, watchList } = watcher;
  /** Whether it was gone through once. */
  let isKnown = false;
  /** Whether it was listed at the look before. */
  let isFollowed = false;

  function isListed(): boolean {
    if (adapter.readMempool === undefined) return false;
    return !isKnown || watchList.isOpen() || adapter.mustListMempool?.() === true;
  }

  return {
    isListed,
    async read({ state, node, isListed: wasListed }, watch) {
      if (adapter.readMempool === undefined) return NOTHING_TO_READ;
      if (!wasListed) {
        isFollowed = false;
        return isListed() ? TO_BE_LISTED : NOTHING_TO_READ;
      }
      // While no payment is open, the list only tells what will be new.
      const awaited = !isKnown || watchList.isOpen() ? watch : [];
      const withinMs = isFollowed ? null : await sinceReservation(watch);
      const reading = await adapter.readMempool(node, awaited, withinMs);
      const { transfers, unreadable = [], complete, more, recorded } = reading;
      const sight = { last: state, askedSince: askedSince(watcher, state.watched_until) };
      const now = new Date(clock());
      await recordSeen(watcher, transfers, sight, tx =>
        reportUnreadable(tx, chain.id, unreadable, now),
      );
      recorded();
      isFollowed = true;
      isKnown ||= complete;
      if (!complete && !more) {
        log.warn({ chain: chain.id, node: node.label }, 'mempool is too long to be listed');
      }
      return { complete, more };
    },
  };

  /**
   * What entered the mempool before the oldest reservation need not be read. After a start that is one whose
   * transfer may still count, later one that is live: while none was, nobody could be paid in time.
   */
  async function sinceReservation(watch: readonly WatchedAddress[]): Promise<number | null> {
    if (watch.length === 0) return null;
    const now = clock();
    const releasedSince = new Date(isKnown ? now : now - LATE_FOR_MS);
    const oldest = await findOldestReservation(db, chain.id, releasedSince);
    return oldest === null ? 0 : Math.max(0, now - oldest.getTime());
  }
}
