import type { WatchedAddress, WatchedNetwork } from '#chains/transfer.ts';
import type { Connection } from '#storage/database/connection.ts';
import {
  type ListedAddress,
  listLiveAddresses,
  listReleasedAddresses,
  listWalletAddresses,
} from '#storage/repositories/chains/watch-list.ts';
import { LATE_FOR_MS } from '#time/late-window.ts';

/**
 * How often released addresses are read from the database, in milliseconds. Addresses that were live a moment ago are
 * remembered here; this finds those that were live while other workers watched.
 */
const RELEASED_EVERY_MS = 60_000;

/**
 * How long an address of a wallet is watched after a payment was asked to pay there, in milliseconds: 90 days, since no
 * other payment gets it while something may still arrive. Later transfers are found by a rescan.
 */
export const WALLET_WATCHED_MS = 90 * 24 * 60 * 60_000;

/** The addresses of a chain at which transfers are looked for. */
export interface WatchList {
  /**
   * Addresses with a live reservation, with one released less than 24 hours ago, or 90 days at an address of a wallet,
   * or with a deposit that is not final. Read it after the chain's newest block: then an address that is missing cannot
   * have been paid for a payment up to that block. The same list as long as it has the same entries.
   */
  read(db: Connection, now: Date): Promise<readonly WatchedAddress[]>;
  /**
   * Whether the last reading found an address with a live reservation, or with a deposit that is not final. At the
   * other addresses transfers are late.
   */
  isOpen(): boolean;
}

export function createWatchList(chain: string): WatchList {
  /** Until when each address is watched, in milliseconds since the epoch. */
  const watched = new Map<string, { readonly entry: WatchedAddress; until: number }>();
  const networks = new Map<string, WatchedNetwork>();
  let releasedReadAt = Number.NEGATIVE_INFINITY;
  let isOpen = false;
  let list: readonly WatchedAddress[] | undefined;

  return {
    isOpen: () => isOpen,
    async read(db, now) {
      const at = now.getTime();
      if (Math.abs(at - releasedReadAt) >= RELEASED_EVERY_MS) await readReleased(db, at);
      const live = await listLiveAddresses(db, chain);
      for (const listed of live) note(listed, at + LATE_FOR_MS);
      isOpen = live.length > 0;
      for (const [key, { until }] of watched) {
        if (at <= until) continue;
        watched.delete(key);
        list = undefined;
      }
      list ??= [...watched.values()].map(({ entry }) => entry);
      return list;
    },
  };

  async function readReleased(db: Connection, at: number): Promise<void> {
    const margin = 2 * RELEASED_EVERY_MS;
    for (const listed of await listReleasedAddresses(db, chain, new Date(at - LATE_FOR_MS))) {
      // It was released at an unknown time since then. The next reading notes it again before it could be
      // forgotten too early.
      note(listed, at + margin);
    }
    // A transaction that releases many is committed long after the time that it writes.
    const since = Math.max(at - WALLET_WATCHED_MS, Math.min(at, releasedReadAt) - LATE_FOR_MS);
    for (const { releasedAt, ...listed } of await listWalletAddresses(db, chain, new Date(since))) {
      note(listed, releasedAt.getTime() + WALLET_WATCHED_MS);
    }
    releasedReadAt = at;
  }

  function note({ blockchainId, contract, address }: ListedAddress, until: number): void {
    const key = `${blockchainId} ${address}`;
    const known = watched.get(key);
    const network = networkOf(blockchainId, contract);
    if (known === undefined || known.entry.network !== network) {
      watched.set(key, {
        entry: { network, address },
        until: Math.max(until, known?.until ?? until),
      });
      list = undefined;
    } else {
      known.until = Math.max(known.until, until);
    }
  }

  /** One object for each network, so that adapters can compare and group by it. */
  function networkOf(id: string, contract: string | null): WatchedNetwork {
    const known = networks.get(id);
    if (known !== undefined && known.contract === contract) return known;
    const network = { id, contract };
    networks.set(id, network);
    return network;
  }
}

/** Addresses of the watch list that hold the chain's native asset. */
export function nativeAddresses(watch: readonly WatchedAddress[]): WatchedAddress[] {
  return watch.filter(({ network }) => network.contract === null);
}

/** The addresses of `listed` as adapters take them. */
export function toWatched(listed: readonly ListedAddress[]): WatchedAddress[] {
  return listed.map(({ blockchainId, contract, address }) => ({
    network: { id: blockchainId, contract },
    address,
  }));
}
