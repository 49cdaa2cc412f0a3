import { ApiError } from '#errors/api-error.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { ConfiguredNetwork } from '#storage/repositories/accounts/deposit-addresses.ts';
import { listActiveNetworks, type NetworkOnChain } from '#storage/repositories/chains/networks.ts';

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
 * Whether customers may pay on a network: it is switched on, and its payments are settled.
 * @param simulation Whether payments may be simulated, so that networks without a node are settled too.
 */
export function isOffered(
  { isActive, settledBy }: Pick<ConfiguredNetwork, 'isActive' | 'settledBy'>,
  simulation: boolean,
): boolean {
  return isActive && (settledBy === 'chain' || (simulation && settledBy === 'simulation'));
}

/** The networks that customers may pay on, in the order of the documentation. */
export async function listOfferedNetworks(
  db: Connection,
  simulation: boolean,
): Promise<NetworkOnChain[]> {
  const active = await listActiveNetworks(db);
  return active.filter(({ is_active: isActive, settled_by: settledBy }) =>
    isOffered({ isActive, settledBy }, simulation),
  );
}

/**
 * Decides which networks a payment offers, in the order of the documentation.
 *
 * An explicit list needs an address for every entry, offered or not; the checkout shows those that are
 * offered when the customer pays. Without a list, it is every offered network with an address.
 *
 * @throws ApiError E1020, as AddressesMissing for an explicit list.
 */
export function chooseNetworks(
  requested: readonly string[] | undefined,
  configured: readonly ConfiguredNetwork[],
  simulation: boolean,
): ConfiguredNetwork[] {
  if (requested === undefined) {
    const offered = configured.filter(network => isOffered(network, simulation));
    if (offered.length > 0) return offered;
    throw new ApiError('E1020', 'No network that is offered has an address on the main branch.');
  }
  const missing = requested.filter(id => !configured.some(network => network.id === id));
  if (missing.length > 0) {
    throw new AddressesMissing([...new Set(missing)], configured.length === 0);
  }
  return configured.filter(network => requested.includes(network.id));
}
