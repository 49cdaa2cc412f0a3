import { InvalidAddress, parseAddress } from '../chains/address.ts';
import type { Connection } from '../database/connection.ts';
import type { Branch, Network } from '../database/tables.ts';
import {
  type DepositAddress,
  listDepositAddresses,
  removeDepositAddress,
  setDepositAddress,
} from '../repositories/deposit-addresses.ts';
import { findBranch, findMainBranch } from '../repositories/merchants.ts';
import { findNetwork } from '../repositories/networks.ts';
import { audited, OperationRefused, type Operator } from './audited-change.ts';
import { requireMerchant } from './merchants.ts';

export interface AddressOwner {
  readonly merchantId: string;
  /** Default: the main branch. */
  readonly branchId?: string | undefined;
}

/**
 * Sets a branch's deposit address on a network, stored in its canonical spelling.
 * @throws OperationRefused for an unknown owner or network, and with the reason for an invalid address.
 */
export function setAddress(
  operator: Operator,
  owner: AddressOwner,
  blockchainId: string,
  text: string,
): Promise<DepositAddress & { branchId: string }> {
  return audited(operator, 'address.set', async (tx, now) => {
    const branch = await requireBranch(tx, owner);
    const network = await findNetwork(tx, blockchainId);
    if (network === undefined) throw new OperationRefused(`There is no network ${blockchainId}.`);
    const address = parse(network, text);
    await setDepositAddress(tx, { branchId: branch.id, blockchainId, address, now });
    const result = { branchId: branch.id, blockchainId, address };
    return { result, objectId: branch.id, detail: { blockchainId, address } };
  });
}

/** @throws OperationRefused when there is no such address. */
export function removeAddress(
  operator: Operator,
  owner: AddressOwner,
  blockchainId: string,
): Promise<{ branchId: string; blockchainId: string }> {
  return audited(operator, 'address.remove', async tx => {
    const branch = await requireBranch(tx, owner);
    if (!(await removeDepositAddress(tx, branch.id, blockchainId))) {
      throw new OperationRefused(`The branch has no address on ${blockchainId}.`);
    }
    const result = { branchId: branch.id, blockchainId };
    return { result, objectId: branch.id, detail: { blockchainId } };
  });
}

/** @throws OperationRefused for an unknown merchant or branch. */
export async function listAddresses(
  db: Connection,
  owner: AddressOwner,
): Promise<DepositAddress[]> {
  const branch = await requireBranch(db, owner);
  return listDepositAddresses(db, branch.id);
}

async function requireBranch(db: Connection, owner: AddressOwner): Promise<Branch> {
  await requireMerchant(db, owner.merchantId);
  if (owner.branchId === undefined) {
    const main = await findMainBranch(db, owner.merchantId);
    if (main === undefined) throw new OperationRefused('The merchant has no main branch.');
    return main;
  }
  const branch = await findBranch(db, owner.branchId);
  if (branch?.merchant_id !== owner.merchantId) {
    throw new OperationRefused(`The merchant has no branch ${owner.branchId}.`);
  }
  return branch;
}

/** The message never repeats the text, which may be a private key pasted by mistake. */
function parse(network: Network, text: string): string {
  try {
    return parseAddress(network.family, network.environment, text);
  } catch (error) {
    if (!(error instanceof InvalidAddress)) throw error;
    throw new OperationRefused(`The address is refused: ${error.reason}.`);
  }
}
