import type { WatchedAddress } from '../transfer.ts';

/** The watch list of a chain as an index; the entries keep the spelling of the list. */
export interface Watched {
  /** By contract, then by address, both in lower case. */
  readonly tokens: ReadonlyMap<string, ReadonlyMap<string, WatchedAddress>>;
  /** By address in lower case. */
  readonly native: ReadonlyMap<string, WatchedAddress>;
}

export function indexWatched(watch: readonly WatchedAddress[]): Watched {
  const tokens = new Map<string, Map<string, WatchedAddress>>();
  const native = new Map<string, WatchedAddress>();
  for (const each of watch) {
    const address = each.address.toLowerCase();
    if (each.network.contract === null) {
      native.set(address, each);
      continue;
    }
    const contract = each.network.contract.toLowerCase();
    const own = tokens.get(contract) ?? new Map<string, WatchedAddress>();
    tokens.set(contract, own.set(address, each));
  }
  return { tokens, native };
}

/** Every address that is watched on any network, in lower case. */
export function allAddresses({ tokens, native }: Watched): Set<string> {
  return new Set([native, ...tokens.values()].flatMap(own => [...own.keys()]));
}

/** Every address that is watched for a token, once for each of its tokens. */
export function watchedTokens({ tokens }: Watched): WatchedAddress[] {
  return [...tokens.values()].flatMap(own => [...own.values()]);
}
