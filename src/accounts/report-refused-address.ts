import { Counter } from 'prom-client';
import { newId } from '#crypto/new-id.ts';
import { addFinding } from '#storage/repositories/chains/findings.ts';
import { findNetwork } from '#storage/repositories/chains/networks.ts';
import type { AddressTaken } from './address-holders.ts';
import type { Operator } from './audit/audited-change.ts';

const refused = new Counter({
  name: 'eps_addresses_refused_total',
  help: 'Addresses that merchants were refused because another one has them',
});

/**
 * Reports to the operator that a merchant was refused an address, which may be its own: by a finding and a
 * metric. Call it outside of the refused transaction.
 */
export async function reportRefusedAddress(
  { db, clock }: Pick<Operator, 'db' | 'clock'>,
  { wanted, holders }: AddressTaken,
): Promise<void> {
  refused.inc();
  const { merchantId, blockchainId, address } = wanted;
  const network = await findNetwork(db, blockchainId);
  if (network === undefined) return;
  const others = holders.map(holder => holder.merchantId).join(', ');
  await addFinding(
    db,
    {
      id: newId(),
      chain: network.chain,
      kind: 'address_refused',
      blockchainId,
      address,
      detail: `Merchant ${merchantId} was refused this address, which merchant ${others} has. Find out whose it is.`,
    },
    new Date(clock()),
  );
}
