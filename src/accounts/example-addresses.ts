import { exampleAddress } from '#chains/example-address.ts';
import { listNetworks } from '#storage/repositories/chains/networks.ts';
import type { Operator } from './audit/audited-change.ts';
import { setAddress } from './deposit-addresses.ts';

/**
 * Gives the main branch of a new test merchant an address on each test network, so that its first payment can be
 * created at once and paid by simulation. Nobody has their keys: who tries coins of a test network sets their own.
 */
export async function setExampleAddresses(operator: Operator, merchantId: string): Promise<void> {
  const networks = await listNetworks(operator.db);
  const own = new Map<string, string>();
  for (const { id, family, environment } of networks) {
    if (environment !== 'test') continue;
    const address = own.get(family) ?? exampleAddress(family);
    own.set(family, address);
    await setAddress(operator, { merchantId }, id, address);
  }
}
