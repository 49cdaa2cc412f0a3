import { leastTransfer } from '#chains/least-transfer.ts';
import type { Network } from '#storage/database/network-tables.ts';
import { smallestStep } from './quote-amounts.ts';

/**
 * The least that is asked for at an address, in the asset's smallest unit: what wallets can send there, or what the
 * operator has set if that is more.
 * @param isRest Whether the amount is the rest of a payment that has been underpaid at the address.
 * @throws RangeError for an asset without a step.
 */
export function leastAmount(network: Network, address: string, isRest = false): bigint {
  const { asset_symbol: symbol, asset_decimals: decimals, least_amount: set } = network;
  return [leastTransfer(network, address, isRest), BigInt(set ?? 0)].reduce(
    (most, each) => (each > most ? each : most),
    smallestStep({ symbol, decimals }),
  );
}
