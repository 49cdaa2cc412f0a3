import { isOffered, offeringFor } from '#payments/offered-networks.ts';
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
  { setup, networks }: MerchantAndNetworks,
  merchantId: string,
  { simulation }: ServiceSetup,
  now: Date,
): Step[] {
  const offering = offeringFor(simulation, setup.environment);
  const offered = networks.filter(
    ({ network_environment: environment, is_active: isActive, settled_by: settledBy }) =>
      isOffered({ environment, isActive, settledBy }, offering),
  );
  const configured = offered.filter(network => network.has_address);
  return [
    { name: 'node', ...nodeResult(networks, offered) },
    {
      name: 'address',
      ...addressResult(networks, offered, setup.shared_addresses, merchantId),
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
  if (offered.length > 0) return done(['networks-offered', { networks: idsOf(offered) }]);
  const off = networks.filter(({ settled_by: by, is_active: isOn }) => by === 'chain' && !isOn);
  const [first] = off;
  if (first !== undefined) {
    return missing(
      ['networks-off', { networks: idsOf(off) }],
      `mp network set ${first.id} --active on`,
    );
  }
  return missing(['node-missing'], 'mp node add CHAIN --url URL');
}

/** @param shared Addresses that another merchant has too, at which payments can settle. */
function addressResult(
  all: readonly NetworkOfMerchant[],
  offered: readonly NetworkOfMerchant[],
  shared: readonly string[],
  merchantId: string,
): Result {
  const configured = all.filter(network => network.has_address);
  const networks = idsOf(configured);
  const command = `mp address set --merchant ${merchantId} --blockchain`;
  // If no network is offered, the step before reports it.
  const isEnough = offered.length === 0 || configured.some(each => offered.includes(each));
  if (configured.length > 0 && isEnough) {
    if (shared.length === 0) {
      const wallets = configured
        .flatMap(({ id, wallet }) => (wallet === null ? [] : [`${id} ${wallet}`]))
        .join(', ');
      return done(
        wallets === ''
          ? ['addresses-set', { networks }]
          : ['addresses-of-wallet', { networks, wallets }],
      );
    }
    return advised(
      ['addresses-shared', { networks, shared: shared.join(', ') }],
      `${command} NETWORK --address ADDRESS`,
    );
  }
  const network = offered.length === 1 ? offered[0]?.id : 'NETWORK';
  return missing(
    configured.length === 0 ? ['addresses-missing'] : ['addresses-elsewhere', { networks }],
    `${command} ${network} --address ADDRESS`,
  );
}

/** @param configured At least one. */
function workerResult(configured: readonly NetworkOfMerchant[], now: Date): Result {
  const watched = configured.filter(network => isWatchedInTime(network, now));
  if (watched.length > 0) {
    return watched.some(({ settled_by: settledBy }) => settledBy === 'chain')
      ? done(['networks-watched', { networks: idsOf(watched) }])
      : done(['networks-simulated', { networks: idsOf(watched) }]);
  }
  const status = `mp network status ${configured[0]?.id}`;
  const [halted] = configured.flatMap(({ chain, halted: reason }) =>
    reason === null ? [] : [{ chain, reason }],
  );
  if (halted !== undefined) return missing(['chain-halted', halted], status);
  return missing(['worker-missing', { networks: idsOf(configured) }], status);
}

function idsOf(networks: readonly NetworkOfMerchant[]): string {
  return networks.map(({ id }) => id).join(', ');
}
