import type { Keyring } from '#crypto/keyring.ts';
import type { AddressChangeKind, Branch } from '#storage/database/account-tables.ts';
import type { Connection } from '#storage/database/connection.ts';
import {
  addDepositAddress,
  type DepositAddress,
  findWalletOn,
  listAddressesOn,
  listDepositAddresses,
  removeDepositAddresses,
} from '#storage/repositories/accounts/deposit-addresses.ts';
import { findBranch, findMainBranch } from '#storage/repositories/accounts/merchants.ts';
import { listWalletUses, type WalletUse } from '#storage/repositories/accounts/wallet-addresses.ts';
import { lateSince } from '#time/late-window.ts';
import { holdAddress, leaveAddresses } from './address-holders.ts';
import { refuseTooMany, requireAddress, requireAddressFor } from './allowed-addresses.ts';
import { audited, OperationRefused, type Operator } from './audit/audited-change.ts';
import { inOneTransaction, lapseOpen, recordOperatorChange } from './change-steps.ts';
import { requireLockedMerchant, requireMerchant } from './merchants.ts';
import {
  beginWallet,
  holdWallet,
  leaveWallet,
  lockGiven,
  readWallet,
  type SealedWallet,
  type ShownWallet,
} from './wallets.ts';

interface AddressOwner {
  readonly merchantId: string;
  /** Default: the main branch. */
  readonly branchId?: string | undefined;
}

export type OwnAddress = DepositAddress & { branchId: string };

/**
 * Makes an address, in its canonical spelling, the only one of a branch on a network. Open payments keep the
 * address that they show. A waiting change of the branch and network lapses.
 * @param sharedWith ID of another merchant that has the address, with which this one shares it.
 * @throws OperationRefused for an unknown owner or network, and with the reason for an invalid address;
 * AddressTaken for one that another merchant has.
 */
export function setAddress(
  operator: Operator,
  owner: AddressOwner,
  blockchainId: string,
  text: string,
  sharedWith?: string,
): Promise<OwnAddress> {
  return changeNow(operator, owner, { blockchainId, text, sharedWith }, 'address.set');
}

/**
 * Lets each payment of a branch on Bitcoin have an address of its own, derived from a wallet's public key. What
 * the branch had on the network before is replaced, as by `setAddress`.
 * @param wallet The extended public key or descriptor, and the next unused receiving address that the wallet shows.
 * @throws OperationRefused with the reason; AddressTaken for a wallet that another merchant has.
 */
export async function setWallet(
  operator: Operator & { readonly keyring: Keyring },
  owner: AddressOwner,
  blockchainId: string,
  wallet: ShownWallet,
): Promise<OwnAddress> {
  const { db, keyring } = operator;
  const given = await readWallet(db, owner.merchantId, blockchainId, wallet);
  const wanted = { blockchainId, text: given.address, wallet: { given, keyring } };
  return changeNow(operator, owner, wanted, 'address.set');
}

/**
 * Adds an address, in its canonical spelling, to those of a branch on a network. Adding it twice
 * changes nothing.
 * @throws OperationRefused like `setAddress`, and above the maximum.
 */
export function addAddress(
  operator: Operator,
  owner: AddressOwner,
  blockchainId: string,
  text: string,
  sharedWith?: string,
): Promise<OwnAddress> {
  return changeNow(operator, owner, { blockchainId, text, sharedWith }, 'address.add');
}

interface WantedNow {
  readonly blockchainId: string;
  /** As typed. */
  readonly text: string;
  readonly sharedWith?: string | undefined;
  /** Of which the text is the next unused address. */
  readonly wallet?: SealedWallet;
}

/** A change by an operator, which does not wait. */
function changeNow(
  operator: Operator,
  owner: AddressOwner,
  { blockchainId, text, sharedWith, wallet: given }: WantedNow,
  kind: AddressVerb,
): Promise<OwnAddress> {
  return inOneTransaction(operator, async within => {
    const { db: tx } = within;
    const { id: branchId, merchant_id } = await requireBranchToChange(tx, owner);
    const address = await requireAddressFor(tx, merchant_id, blockchainId, text);
    const former = await listAddressesOn(tx, branchId, blockchainId);
    if (kind === 'address.add') {
      refuseTooMany(former, address);
      const wallet = await findWalletOn(tx, branchId, blockchainId);
      if (wallet !== null) throw new OperationRefused('wallet-alone');
    }
    const place = { merchantId: merchant_id, branchId, blockchainId, address };
    if (given !== undefined) await lockGiven(tx, given);
    await holdAddress(within, place, sharedWith);
    const wallet = given && (await holdWallet(within, merchant_id, given));
    const wanted = { ...place, walletId: wallet?.id ?? null };
    await putAddress(within, kind, wanted);
    await lapseOpen(within, merchant_id, wanted);
    await recordOperatorChange(within, {
      kind,
      merchant_id,
      branch_id: branchId,
      blockchain_id: blockchainId,
      address,
      wallet_id: wanted.walletId,
      former,
    });
    return { branchId, blockchainId, address, walletId: wanted.walletId };
  });
}

export type AddressVerb = Extract<AddressChangeKind, 'address.set' | 'address.add'>;

/** Makes an address that the merchant holds the only one of a branch on a network, or one more. */
export async function putAddress(
  operator: Operator,
  kind: AddressVerb,
  wanted: OwnAddress & { merchantId: string },
): Promise<void> {
  const { merchantId, branchId, blockchainId, address, walletId } = wanted;
  const { db: tx, clock } = operator;
  const former = await findWalletOn(tx, branchId, blockchainId);
  await addDepositAddress(tx, { ...wanted, now: new Date(clock()) });
  if (walletId !== null) await beginWallet(tx, walletId, address);
  if (kind === 'address.add') return;
  const present = await listAddressesOn(tx, branchId, blockchainId);
  const replaced = present.filter(other => other !== address);
  await removeDepositAddresses(tx, branchId, blockchainId, replaced);
  if (former !== null && former !== walletId) await leaveWallet(operator, former);
  await leaveAddresses(operator, { merchantId, blockchainId }, replaced);
}

/**
 * Removes an address of a branch on a network. A waiting change of the branch and network lapses. If a payer
 * was shown the address, the merchant keeps it for a while.
 * @param text The address; not needed where the branch has only one.
 * @throws OperationRefused when there is no such address, or several and none is named.
 */
export function removeAddress(
  operator: Operator,
  owner: AddressOwner,
  blockchainId: string,
  text?: string,
): Promise<OwnAddress> {
  return audited(operator, 'address.remove', async tx => {
    const within = { ...operator, db: tx };
    const { id: branchId, merchant_id: merchantId } = await requireBranchToChange(tx, owner);
    const present = await listAddressesOn(tx, branchId, blockchainId);
    const address = await chooseAddress(tx, present, blockchainId, text);
    const walletId = await findWalletOn(tx, branchId, blockchainId);
    await removeDepositAddresses(tx, branchId, blockchainId, [address]);
    if (walletId !== null) await leaveWallet(within, walletId);
    await leaveAddresses(within, { merchantId, blockchainId }, [address]);
    const result = { branchId, blockchainId, address, walletId };
    await lapseOpen(within, merchantId, result);
    return { result, objectId: branchId, detail: { blockchainId, address } };
  });
}

/** A deposit address, and how the wallet stands that it is the first one of. */
export interface ListedAddress extends Omit<DepositAddress, 'walletId'> {
  /** null for a static address. */
  readonly wallet: WalletUse | null;
}

/** @throws OperationRefused for an unknown merchant or branch. */
export async function listAddresses(
  db: Connection,
  owner: AddressOwner,
  now: Date,
): Promise<ListedAddress[]> {
  const branch = await requireBranch(db, owner);
  const addresses = await listDepositAddresses(db, branch.id);
  const wallets = await listWalletUses(
    db,
    addresses.flatMap(({ walletId }) => walletId ?? []),
    lateSince(now.getTime()),
  );
  return addresses.map(({ walletId, ...address }) => ({
    ...address,
    wallet: wallets.find(({ id }) => id === walletId) ?? null,
  }));
}

/** The branch, with its merchant locked, so that concurrent changes run one after the other. */
async function requireBranchToChange(tx: Connection, owner: AddressOwner): Promise<Branch> {
  await requireLockedMerchant(tx, owner.merchantId);
  return requireBranch(tx, owner);
}

export async function requireBranch(db: Connection, owner: AddressOwner): Promise<Branch> {
  await requireMerchant(db, owner.merchantId);
  if (owner.branchId === undefined) {
    const main = await findMainBranch(db, owner.merchantId);
    if (main === undefined) throw new OperationRefused('main-branch-missing');
    return main;
  }
  const branch = await findBranch(db, owner.branchId);
  if (branch?.merchant_id !== owner.merchantId) {
    throw new OperationRefused('branch-of-other', { branchId: owner.branchId });
  }
  return branch;
}

/** Which of the present addresses is meant; the only one if none is named. */
async function chooseAddress(
  db: Connection,
  present: readonly string[],
  blockchainId: string,
  text: string | undefined,
): Promise<string> {
  const [first, second] = present;
  if (first === undefined) throw new OperationRefused('addresses-missing', { blockchainId });
  if (text === undefined) {
    if (second === undefined) return first;
    throw new OperationRefused('address-not-named', { count: present.length, blockchainId });
  }
  // Compared before parsing: an address that was accepted earlier may be refused by now.
  if (present.includes(text)) return text;
  const address = await requireAddress(db, blockchainId, text);
  if (present.includes(address)) return address;
  throw new OperationRefused('address-missing', { blockchainId });
}
