import { chainOf, isChainId } from '#chains/chain-list.ts';
import type { NetworkOnChain } from '#storage/repositories/chains/networks.ts';

/**
 * Whether transfers on a network are seen soon enough to let customers pay on it now. A network whose
 * payments are simulated always is; one on a chain is while its watcher lags by no more than the chain's
 * limit.
 */
export function isWatchedInTime(
  network: Pick<NetworkOnChain, 'chain' | 'settled_by' | 'watched_until' | 'halted'>,
  now: Date,
): boolean {
  const { chain, settled_by: settledBy, watched_until: watchedUntil, halted } = network;
  if (settledBy !== 'chain') return true;
  if (halted !== null || watchedUntil === null || !isChainId(chain)) return false;
  return now.getTime() - watchedUntil.getTime() <= chainOf(chain).offeredLagMs;
}
