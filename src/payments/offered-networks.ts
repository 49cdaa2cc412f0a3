import { ApiError } from '#errors/api-error.ts';
import type { MerchantEnvironment } from '#storage/database/account-tables.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { Network } from '#storage/database/network-tables.ts';
import type { ConfiguredNetwork } from '#storage/repositories/accounts/merchant-setup.ts';
import {
  listNetworksOnChains,
  type NetworkOnChain,
} from '#storage/repositories/chains/networks.ts';

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
 * Which networks a merchant's customers are offered:
 * - `watched`: those that are switched on and whose chain has a node
 * - `simulated`: also those without a node, on a service that simulates payments
 * - `test`: test networks, for a test merchant. Those without a node are offered even if they are switched off, on every
 *   service, since its payments are simulated
 */
export type Offering = 'watched' | 'simulated' | 'test';

/** @param simulation Whether the service simulates the payments of all merchants. */
export function offeringFor(simulation: boolean, environment: MerchantEnvironment): Offering {
  if (environment === 'test') return 'test';
  return simulation ? 'simulated' : 'watched';
}

/** Whether customers may pay on a network. */
export function isOffered(
  { environment, isActive, settledBy }: OfferedBy,
  offering: Offering,
): boolean {
  if (offering === 'test' && environment !== 'test') return false;
  if (settledBy === 'chain') return isActive;
  return (
    settledBy === 'simulation' && (offering === 'test' || (offering === 'simulated' && isActive))
  );
}

type OfferedBy = Pick<ConfiguredNetwork, 'environment' | 'isActive' | 'settledBy'>;

/** Whether customers may pay on a network, by its row. */
export function isRowOffered(
  { environment, is_active: isActive, settled_by: settledBy }: Network,
  offering: Offering,
): boolean {
  return isOffered({ environment, isActive, settledBy }, offering);
}

/** The networks that customers may pay on, in the order of the documentation. */
export async function listOfferedNetworks(
  db: Connection,
  offering: Offering,
): Promise<NetworkOnChain[]> {
  const all = await listNetworksOnChains(db);
  return all.filter(network => isRowOffered(network, offering));
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
  offering: Offering,
): ConfiguredNetwork[] {
  if (requested === undefined) {
    const offered = configured.filter(network => isOffered(network, offering));
    if (offered.length > 0) return offered;
    throw new ApiError('E1020', 'No network that is offered has an address on the main branch.');
  }
  const missing = requested.filter(id => !configured.some(network => network.id === id));
  if (missing.length > 0) {
    throw new AddressesMissing([...new Set(missing)], configured.length === 0);
  }
  return configured.filter(network => requested.includes(network.id));
}
