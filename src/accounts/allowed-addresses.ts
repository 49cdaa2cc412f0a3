import { InvalidAddress, parseAddress } from '#chains/address.ts';
import type { Connection } from '#storage/database/connection.ts';
import { findNetwork, listNetworks } from '#storage/repositories/chains/networks.ts';
import { OperationRefused } from './audit/audited-change.ts';
import { requireMerchant } from './merchants.ts';

/** Maximum deposit addresses of a branch on a network. */
export const ADDRESSES_MAXIMUM = 20;

/** @throws OperationRefused if there is no room for another address. */
export function refuseTooMany(present: readonly string[], address: string): void {
  if (present.includes(address) || present.length < ADDRESSES_MAXIMUM) return;
  throw new OperationRefused('too-many-addresses', { maximum: ADDRESSES_MAXIMUM });
}

/**
 * The canonical spelling of an address. A test merchant gets none on a main network, and no merchant gets the
 * contract of a token.
 * @throws OperationRefused with the reason.
 */
export async function requireAddressFor(
  db: Connection,
  merchantId: string,
  blockchainId: string,
  text: string,
): Promise<string> {
  const { environment } = await requireMerchant(db, merchantId);
  const network = await findNetwork(db, blockchainId);
  if (environment === 'test' && network?.environment === 'production') {
    throw new OperationRefused('address-on-main-network', { blockchainId });
  }
  const address = await requireAddress(db, blockchainId, text);
  // Some contracts are configured, so the parser does not know them.
  const networks = await listNetworks(db);
  const own = networks.find(({ contract }) => contract === address);
  if (own === undefined) return address;
  throw new OperationRefused('address-of-contract', { blockchainId: own.id });
}

/** The canonical spelling of an address. A refusal never repeats the text: it may be a private key, pasted by mistake. */
export async function requireAddress(
  db: Connection,
  blockchainId: string,
  text: string,
): Promise<string> {
  const network = await findNetwork(db, blockchainId);
  if (network === undefined) throw new OperationRefused('network-unknown', { blockchainId });
  try {
    return parseAddress(network.family, network.environment, text);
  } catch (error) {
    if (!(error instanceof InvalidAddress)) throw error;
    throw new OperationRefused('address-invalid', { problem: error.problem });
  }
}
