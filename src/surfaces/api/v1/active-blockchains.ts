import { principalOf } from '#http/authentication.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { listOfferedNetworks, offeringFor } from '#payments/offered-networks.ts';
import { type Blockchain, BlockchainListSchema } from '#schemas/blockchain.ts';
import { EmptyQuerySchema } from '#schemas/list-payments.ts';
import type { Network } from '#storage/database/network-tables.ts';
import type { V1Dependencies } from './dependencies.ts';
import { LIST_ACTIVE_BLOCKCHAINS } from './operations.ts';

/** GET /external/v1/blockchains/active */
export function registerActiveBlockchains(
  app: TypedApp,
  { reads, networks, simulation }: V1Dependencies,
): void {
  app.get(
    '/blockchains/active',
    {
      config: {
        access: { principals: ['merchant'], scope: 'blockchains:read' },
        operation: LIST_ACTIVE_BLOCKCHAINS,
      },
      schema: { querystring: EmptyQuerySchema, response: { 200: BlockchainListSchema } },
    },
    async request => {
      const principal = principalOf(request);
      const environment = principal.kind === 'merchant' ? principal.environment : 'live';
      const offering = offeringFor(simulation, environment);
      // Any change of a network invalidates the list, so it depends on no single subject.
      const offered = await networks.read(offering, async () => ({
        value: await listOfferedNetworks(reads, offering),
        subjects: [],
      }));
      return (offered ?? []).map(toBlockchain);
    },
  );
}

/** A network as the API shows it. */
export function toBlockchain(network: Network): Blockchain {
  return {
    object: 'blockchain',
    id: network.id,
    name: network.name,
    isActive: network.is_active,
    assetSymbol: network.asset_symbol,
    assetName: network.asset_name,
  };
}
