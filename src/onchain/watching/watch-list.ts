import type { WatchedAddress, WatchedNetwork } from '#chains/transfer.ts';
import type { Connection } from '#storage/database/connection.ts';
import {
  type ListedAddress,
  listLiveAddresses,
  listReleasedAddresses,
} from '#storage/repositories/chains/watch-list.ts';
import { LATE_FOR_MS } from '#time/late-window.ts';

/**
 * How often released addresses are read from the database, in milliseconds. Addresses that were live a moment ago are
 * remembered here; this finds those that were live while other workers watched.
 */
const RELEASED_EVERY_MS = 60_000;

/** The addresses of a chain at which transfers are looked for. */
export interface WatchList {
  /**
   * Addresses with a live reservation, with one released less than 24 hours ago, or with a deposit that
   * is not final. Read it after the chain's newest block: then an address that is missing cannot have been
   * paid for a payment up to that block.
   */
  read(db: Connection, now: Date): Promise<readonly WatchedAddress[]>;
  /**
   * Whether the last reading found an address with a live reservation, or with a deposit that is not final. At the
   * other addresses transfers are late.
   */
  isOpen(): boolean;
}

export function createWatchList(chain: string): WatchList {
  /** When each address was last known to be live, in milliseconds since the epoch. */
  const lastLive = new Map<string, { readonly entry: WatchedAddress; at: number }>();
  const networks = new Map<string, WatchedNetwork>();
  let releasedReadAt = Number.NEGATIVE_INFINITY;
  let isOpen = false;

  return {
    isOpen: () => isOpen,
    async read(db, now) {
      const at = now.getTime();
      if (Math.abs(at - releasedReadAt) >= RELEASED_EVERY_MS) {
        const since = new Date(at - LATE_FOR_MS);
        for (const listed of await listReleasedAddresses(db, chain, since)) {
          // It was released at an unknown time since then. The next reading notes it again before it could be
          // forgotten too early.
          note(listed, at - LATE_FOR_MS + 2 * RELEASED_EVERY_MS);
        }
        releasedReadAt = at;
      }
      const live = await listLiveAddresses(db, chain);
      for (const listed of live) note(listed, at);
      isOpen = live.length > 0;
      for (const [key, { at: seen }] of lastLive) {
        if (at - seen > LATE_FOR_MS) lastLive.delete(key);
      }
      return [...lastLive.values()].map(({ entry }) => entry);
    },
  };

  function note({ blockchainId, contract, address }: ListedAddress, at: number): void {
    const key = `${blockchainId} ${address}`;
    const known = lastLive.get(key);
    const network = networkOf(blockchainId, contract);
    if (known === undefined || known.entry.network !== network) {
      lastLive.set(key, { entry: { network, address }, at: Math.max(at, known?.at ?? at) });
    } else {
      known.at = Math.max(known.at, at);
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
