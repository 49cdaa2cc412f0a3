import { ApiError } from '../errors/api-error.ts';
import type { ConfiguredNetwork } from '../repositories/deposit-addresses.ts';

/**
 * Decides which networks a payment offers, in the order of the documentation.
 *
 * An explicit list needs an address for every entry, active or not: what is inactive when the
 * customer pays is simply not offered then. Without a list, everything active with an address is.
 *
 * @throws ApiError E1020
 */
export function chooseNetworks(
  requested: readonly string[] | undefined,
  configured: readonly ConfiguredNetwork[],
): ConfiguredNetwork[] {
  if (requested === undefined) {
    const active = configured.filter(network => network.isActive);
    if (active.length > 0) return active;
    throw new ApiError('E1020', 'No active network has a deposit address on the main branch.');
  }
  const missing = requested.find(id => !configured.some(network => network.id === id));
  if (missing !== undefined) {
    throw new ApiError('E1020', `${missing} has no deposit address on the main branch.`, {
      param: 'blockchainIds',
    });
  }
  return configured.filter(network => requested.includes(network.id));
}
