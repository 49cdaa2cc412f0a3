import { isOffered } from '#payments/offered-networks.ts';
import type {
  MerchantAndNetworks,
  NetworkOfMerchant,
} from '#storage/repositories/payments/first-payment.ts';
import { isWatchedInTime } from './availability.ts';
import {
  advised,
  done,
  missing,
  type Result,
  type ServiceSetup,
  type Step,
} from './setup-steps.ts';

/** Which networks customers can pay on: some are offered, the merchant has an address, a worker watches. */
export function checkNetworks(
  { setup: { shared_addresses: sharedAddresses }, networks }: MerchantAndNetworks,
  merchantId: string,
  { simulation }: ServiceSetup,
  now: Date,
): Step[] {
  const offered = networks.filter(({ is_active: isActive, settled_by: settledBy }) =>
    isOffered({ isActive, settledBy }, simulation),
  );
  const configured = offered.filter(network => network.has_address);
  return [
    { name: 'node', ...nodeResult(networks, offered) },
    {
      name: 'address',
      ...withShared(addressResult(networks, offered, merchantId), sharedAddresses, merchantId),
    },
    ...(configured.length > 0
      ? [{ name: 'worker' as const, ...workerResult(configured, now) }]
      : []),
  ];
}

function nodeResult(
  networks: readonly NetworkOfMerchant[],
  offered: readonly NetworkOfMerchant[],
): Result {
  if (offered.length > 0) return done(`Networks that are offered: ${idsOf(offered)}.`);
  const off = networks.filter(({ settled_by: by, is_active: isOn }) => by === 'chain' && !isOn);
  const [first] = off;
  if (first !== undefined) {
    return missing(
      `Nodes watch ${idsOf(off)}, but no operator has switched a network on: creations are refused with E1020.`,
      `mp network set ${first.id} --active on`,
    );
  }
  return missing(
    'No node watches a chain, so no network is offered: creations are refused with E1020.',
    'mp node add CHAIN --url URL',
  );
}

function addressResult(
  networks: readonly NetworkOfMerchant[],
  offered: readonly NetworkOfMerchant[],
  merchantId: string,
): Result {
  const configured = networks.filter(network => network.has_address);
  // If no network is offered, the step before reports it.
  const isEnough = offered.length === 0 || configured.some(each => offered.includes(each));
  if (configured.length > 0 && isEnough) {
    return done(`The main branch has addresses on ${idsOf(configured)}.`);
  }
  const what =
    configured.length === 0
      ? 'The main branch has no address'
      : `The main branch has addresses on ${idsOf(configured)} alone, which no customer is offered`;
  const network = offered.length === 1 ? offered[0]?.id : 'NETWORK';
  return missing(
    `${what}: creations are refused with E1020.`,
    `mp address set --merchant ${merchantId} --blockchain ${network} --address ADDRESS`,
  );
}

/** Warns if another merchant shares an address at which payments can settle. */
function withShared(result: Result, shared: readonly string[], merchantId: string): Result {
  if (result.state !== 'done' || shared.length === 0) return result;
  return advised(
    `${result.finding} Another merchant has ${shared.join(', ')} as well: what no payment takes there is seen by operators alone.`,
    `mp address set --merchant ${merchantId} --blockchain NETWORK --address ADDRESS`,
  );
}

/** @param configured At least one. */
function workerResult(configured: readonly NetworkOfMerchant[], now: Date): Result {
  const watched = configured.filter(network => isWatchedInTime(network, now));
  if (watched.length > 0) {
    return watched.some(({ settled_by: settledBy }) => settledBy === 'chain')
      ? done(`Watched in time: ${idsOf(watched)}.`)
      : done(`Nothing has to be watched: payments on ${idsOf(watched)} are simulated.`);
  }
  const status = `mp network status ${configured[0]?.id}`;
  const halted = configured.find(network => network.halted !== null);
  if (halted !== undefined) {
    return missing(`The chain ${halted.chain} is halted: ${halted.halted}`, status);
  }
  return missing(
    `No worker watches ${idsOf(configured)} in time: customers cannot choose a network. Is one running?`,
    status,
  );
}

function idsOf(networks: readonly NetworkOfMerchant[]): string {
  return networks.map(({ id }) => id).join(', ');
}
