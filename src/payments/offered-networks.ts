import { ApiError } from '../errors/api-error.ts';
import type { ConfiguredNetwork } from '../repositories/deposit-addresses.ts';

/** E1020 with the requested networks that the main branch has no address for. */
export class AddressesMissing extends ApiError {
  readonly blockchainIds: readonly string[];
  /** Whether the branch has no address at all. */
  readonly none: boolean;

  /** @param blockchainIds At least one. */
  constructor(blockchainIds: readonly string[], none: boolean) {
    super('E1020', `${blockchainIds[0]} has no deposit address on the main branch.`, {
      param: 'blockchainIds',
    });
    this.blockchainIds = blockchainIds;
    this.none = none;
  }
}

/**
 * Decides which networks a payment offers, in the order of the documentation.
 *
 * An explicit list needs an address for every entry, active or not; the checkout offers those that are
 * active when the customer pays. Without a list, every active network with an address is offered.
 *
 * @throws ApiError E1020, as AddressesMissing for an explicit list.
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
  const missing = requested.filter(id => !configured.some(network => network.id === id));
  if (missing.length > 0) {
    throw new AddressesMissing([...new Set(missing)], configured.length === 0);
  }
  return configured.filter(network => requested.includes(network.id));
}
