import {
  deleteAddressHolder,
  findHeldAddress,
  listAddressHolders,
  lockAddressHolders,
} from '#storage/repositories/accounts/address-holders.ts';
import { findWalletAt, releaseWallet } from '#storage/repositories/accounts/wallets.ts';
import type { AddressOf } from './address-holders.ts';
import { requireAddress } from './allowed-addresses.ts';
import { audited, OperationRefused, type Operator } from './audit/audited-change.ts';
import { requireLockedMerchant } from './merchants.ts';

/**
 * Frees a removed address at once, which its merchant would otherwise keep for a while. One of a wallet frees the wallet,
 * with all its addresses.
 * @throws OperationRefused for an address that the merchant does not hold, and for one that is in force or
 * waits to be.
 */
export function releaseAddress(
  operator: Operator,
  { merchantId, blockchainId, address: text }: AddressOf,
): Promise<AddressOf> {
  const within = { ...operator, accountId: merchantId };
  return audited(within, 'address.release', async (tx, now) => {
    await requireLockedMerchant(tx, merchantId);
    const address = await requireAddress(tx, blockchainId, text);
    const held = await findHeldAddress(tx, blockchainId, address);
    if (held === undefined) throw new OperationRefused('network-unknown', { blockchainId });
    await lockAddressHolders(tx, held);
    const holders = await listAddressHolders(tx, held);
    const own = holders.find(holder => holder.merchantId === merchantId);
    if (own === undefined) throw new OperationRefused('address-not-held');
    if (own.isInForce) throw new OperationRefused('address-in-force');
    const heir = holders.find(holder => holder !== own)?.merchantId ?? null;
    const wallet = await findWalletAt(tx, merchantId, blockchainId, address);
    if (wallet !== undefined) await releaseWallet(tx, wallet.id, now);
    await deleteAddressHolder(tx, held, merchantId, heir, now);
    const result = { merchantId, blockchainId, address };
    return { result, objectId: merchantId, detail: { blockchainId, address } };
  });
}
