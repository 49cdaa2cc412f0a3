import type { MempoolReading } from '#chains/adapter.ts';
import type { WatchedAddress } from '#chains/transfer.ts';
import { findOldestReservation } from '#storage/repositories/chains/watch-list.ts';
import { addAncestry } from '#storage/repositories/deposits/watched-deposits.ts';
import { LATE_FOR_MS } from '#time/late-window.ts';
import type { Watcher } from '../watcher.ts';
import { askedSince, recordSeen } from './record-seen.ts';
import type { Round } from './round.ts';
import { reportUnreadable } from './unreadable.ts';

/** Reads the mempool of a chain that has one, while a payment is open there. */
export interface Mempool {
  /**
   * Whether the mempool is to be listed with the heads: while the watch list has an open payment, until all of it was
   * read once after a start, and if the node could not tell later which transactions are new.
   */
  isListed(): boolean;
  /**
   * Records new transfers in the mempool, if it was listed with the heads. Those that came while no payment was open
   * pay none, and are recorded with their block.
   * @throws NodeFailure, LeaseLost.
   */
  read(
    round: Pick<Round, 'state' | 'node' | 'isListed'>,
    watch: readonly WatchedAddress[],
  ): Promise<Progress>;
}

type Progress = Pick<MempoolReading, 'complete' | 'more'>;

/** For a chain without a mempool, or without an open payment. */
const NOTHING_TO_READ: Progress = { complete: true, more: false };
/** A payment was opened since the heads were asked for. */
const TO_BE_LISTED: Progress = { complete: false, more: true };

export function createMempool(watcher: Watcher): Mempool {
  const { adapter, chain, clock, db, log, watchList } = watcher;
  /** Whether the whole mempool was read once. */
  let isKnown = false;
  /** Whether the previous look has read the mempool. */
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
      // While no payment is open, listed transactions are only remembered as old.
      const awaited = !isKnown || watchList.isOpen() ? watch : [];
      const withinMs = isFollowed ? null : await sinceReservation(watch);
      const reading = await adapter.readMempool(node, awaited, withinMs);
      const { transfers, unreadable = [], complete, more, recorded } = reading;
      const timing = { last: state, askedSince: askedSince(watcher, state.watched_until) };
      const now = new Date(clock());
      await recordSeen(watcher, transfers, timing, async tx => {
        for (const { blockchainId, transactionHash, ancestry } of transfers) {
          if (ancestry !== undefined)
            await addAncestry(tx, blockchainId, transactionHash, ancestry);
        }
        await reportUnreadable(tx, chain.id, unreadable, now);
      });
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
   * The time since the oldest reservation: older transactions need not be read. After a start, reservations count if
   * transfers may still be matched to them. Later only live ones count, since no transfer is in time without one.
   */
  async function sinceReservation(watch: readonly WatchedAddress[]): Promise<number | null> {
    if (watch.length === 0) return null;
    const now = clock();
    const releasedSince = new Date(isKnown ? now : now - LATE_FOR_MS);
    const oldest = await findOldestReservation(db, chain.id, releasedSince);
    return oldest === null ? 0 : Math.max(0, now - oldest.getTime());
  }
}
