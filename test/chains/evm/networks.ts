import type { WatchedAddress, WatchedNetwork } from '#chains/transfer.ts';
import { USDC_TEST } from '../../helpers/evm.ts';

export const NATIVE: WatchedNetwork = { id: 'eth-test', contract: null };
export const USDC: WatchedNetwork = { id: 'eth-usdc-test', contract: USDC_TEST };

export function watch(
  network: WatchedNetwork,
  ...addresses: readonly string[]
): readonly WatchedAddress[] {
  return addresses.map(address => ({ network, address }));
}
