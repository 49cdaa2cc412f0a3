import { newId } from '#crypto/new-id.ts';
import type { AddressChange, Merchant } from '#storage/database/account-tables.ts';
import type { Connection } from '#storage/database/connection.ts';
import {
  type ChangedThing,
  findOpenChangeOf,
  hasSuccessfulPayment,
  insertAddressChange,
  needApprovals,
} from '#storage/repositories/accounts/address-changes.ts';
import { findWalletOn, listAddressesOn } from '#storage/repositories/accounts/deposit-addresses.ts';
import { findMainBranch, updateMerchant } from '#storage/repositories/accounts/merchants.ts';
import { holdAddress, requireUntaken } from './address-holders.ts';
import { refuseTooMany, requireAddressFor } from './allowed-addresses.ts';
import { applyNow, isSame } from './apply-changes.ts';
import { audited, OperationRefused, type Operator } from './audit/audited-change.ts';
import { requireOtherAdmin, requireProposer } from './change-rights.ts';
import { type ChangeColumns, inOneTransaction, tellOfChange } from './change-steps.ts';
import { type AddressVerb, requireBranch } from './deposit-addresses.ts';
import { requireLockedMerchant, requireMerchant } from './merchants.ts';
import { holdWallet, lockGiven, type SealedWallet } from './wallets.ts';

/** An address that an admin wants a branch to have on a network: as its only one, or as one more. */
export interface WantedAddress {
  readonly kind: AddressVerb;
  readonly merchantId: string;
  readonly branchId: string;
  readonly blockchainId: string;
  /** As typed. */
  readonly text: string;
  /** A wallet, of which `text` is the next unused receiving address; see `readWallet`. */
  readonly wallet?: SealedWallet;
}

/** A wanted address and the branch's present ones, for review before it is proposed. */
interface CheckedAddress {
  /** In its canonical spelling. */
  readonly address: string;
  /** The present addresses of the branch on the network. */
  readonly present: readonly string[];
}

/**
 * Checks an address as `setAddress` does; also that it would change something, and that no other merchant has
 * it: a deposit at an address of two merchants could settle a payment of the wrong one.
 * @throws OperationRefused with the reason; AddressTaken for an address that another merchant has.
 */
export async function checkAddress(
  db: Connection,
  { kind, merchantId, branchId, blockchainId, text, wallet }: WantedAddress,
  now: Date,
): Promise<CheckedAddress> {
  await requireBranch(db, { merchantId, branchId });
  const address = await requireAddressFor(db, merchantId, blockchainId, text);
  const present = await listAddressesOn(db, branchId, blockchainId);
  const isThere = present.includes(address);
  const hasWallet = (await findWalletOn(db, branchId, blockchainId)) !== null;
  if (isThere && (wallet !== undefined) === hasWallet) {
    if (hasWallet) throw new OperationRefused('wallet-already-set');
    if (kind === 'address.add' || present.length === 1) {
      throw new OperationRefused('address-already-set');
    }
  }
  if (kind === 'address.add') {
    if (hasWallet) throw new OperationRefused('wallet-alone');
    refuseTooMany(present, address);
  }
  await requireUntaken(db, { merchantId, blockchainId, address }, now);
  return { address, present };
}

/**
 * Proposes an address. The change waits for the delay. It takes effect at once while the merchant has no
 * successful payment, unless a second admin is always required.
 * @param seen The present addresses as the proposer saw them.
 * @param delayMs How long changes wait, in milliseconds.
 * @returns The change; its outcome is `applied` if it has taken effect.
 * @throws OperationRefused like `checkAddress`, for somebody who may not propose, when another change of the
 * branch and network is waiting, and when the present addresses differ from `seen`.
 */
export function proposeAddress(
  operator: Operator,
  wanted: WantedAddress,
  seen: readonly string[],
  delayMs: number,
): Promise<AddressChange> {
  const {
    kind,
    merchantId: merchant_id,
    branchId: branch_id,
    blockchainId: blockchain_id,
  } = wanted;
  return propose(operator, merchant_id, delayMs, async within => {
    const { db: tx, clock } = within;
    const { address, present } = await checkAddress(tx, wanted, new Date(clock()));
    if (!isSame(present, seen)) throw new OperationRefused('addresses-changed');
    if (wanted.wallet !== undefined) await lockGiven(tx, wanted.wallet);
    await holdAddress(within, { merchantId: merchant_id, blockchainId: blockchain_id, address });
    const wallet = wanted.wallet && (await holdWallet(within, merchant_id, wanted.wallet));
    const former = [...present];
    return {
      kind,
      merchant_id,
      branch_id,
      blockchain_id,
      address,
      wallet_id: wallet?.id ?? null,
      former,
    };
  });
}

/**
 * Proposes to make a branch the main one. API payments are created on the main branch, so their money would
 * go to its addresses. The change waits like that of an address.
 * @throws OperationRefused for an unknown branch and for the present main one; else like `proposeAddress`.
 */
export function proposeMainBranch(
  operator: Operator,
  { merchantId, branchId }: { readonly merchantId: string; readonly branchId: string },
  delayMs: number,
): Promise<AddressChange> {
  return propose(operator, merchantId, delayMs, async ({ db: tx }) => {
    const { is_main: isMain } = await requireBranch(tx, { merchantId, branchId });
    if (isMain) throw new OperationRefused('branch-already-main');
    const main = await findMainBranch(tx, merchantId);
    return {
      kind: 'branch.main',
      merchant_id: merchantId,
      branch_id: branchId,
      blockchain_id: null,
      address: null,
      former: main === undefined ? [] : [main.id],
    };
  });
}

/**
 * Requires a second admin for every change of where money goes, waiting ones included.
 * @throws OperationRefused for somebody who may not propose changes, and where there is no second admin.
 */
export function requireSecondAdmin(operator: Operator, merchantId: string): Promise<void> {
  return inOneTransaction(operator, async within => {
    const { db: tx } = within;
    const merchant = await requireLockedMerchant(tx, merchantId);
    const admin = await requireProposer(within, merchantId);
    await requireOtherAdmin(within, merchantId, admin);
    if (merchant.needs_second_admin) return;
    await audited(within, 'merchant.second-admin', async () => {
      await updateMerchant(tx, merchantId, { needs_second_admin: true });
      await needApprovals(tx, merchantId);
      return { result: undefined, objectId: merchantId, detail: { needsSecondAdmin: true } };
    });
  });
}

/**
 * Proposes that one admin is enough again. The change always waits, even where an address would not. Another
 * admin may approve it, but need not: the second admin may be gone.
 * @throws OperationRefused like `proposeAddress`.
 */
export function proposeOneAdmin(
  operator: Operator,
  merchantId: string,
  delayMs: number,
): Promise<AddressChange> {
  return propose(operator, merchantId, delayMs, async ({ db: tx }) => {
    const { needs_second_admin: isNeeded } = await requireLockedMerchant(tx, merchantId);
    if (!isNeeded) throw new OperationRefused('one-admin-enough');
    return {
      kind: 'merchant.one-admin',
      merchant_id: merchantId,
      branch_id: null,
      blockchain_id: null,
      address: null,
      former: [],
    };
  });
}

/** When a change of where money goes would take effect if it were proposed now. */
export interface Delay {
  /** Milliseconds to wait; 0 if it takes effect at once. */
  readonly waitsMs: number;
  /** Whether it waits until another admin approves it, however long that takes. */
  readonly needsApproval: boolean;
}

/**
 * How long an address that is proposed now would wait.
 * @throws OperationRefused for an unknown merchant.
 */
export async function readDelay(
  db: Connection,
  merchantId: string,
  delayMs: number,
): Promise<Delay> {
  return delayOf(db, await requireMerchant(db, merchantId), delayMs);
}

/** Setting up is not slowed down: nothing waits while the merchant has no successful payment. */
async function delayOf(
  db: Connection,
  { id, needs_second_admin: needsApproval }: Merchant,
  delayMs: number,
): Promise<Delay> {
  return { waitsMs: (await hasSuccessfulPayment(db, id)) ? delayMs : 0, needsApproval };
}

/** @param check Returns what to change. Runs in the transaction, with the merchant locked. */
function propose(
  operator: Operator,
  merchantId: string,
  delayMs: number,
  check: (within: Operator) => Promise<ChangeColumns>,
): Promise<AddressChange> {
  return inOneTransaction(operator, async within => {
    const { db: tx, clock } = within;
    const merchant = await requireLockedMerchant(tx, merchantId);
    if (merchant.status !== 'active') throw new OperationRefused('account-inactive');
    const { email, personId } = await requireProposer(within, merchantId);
    const columns = await check(within);
    const { kind } = columns;
    if ((await findOpenChangeOf(tx, merchantId, thingOf(columns))) !== undefined) {
      throw new OperationRefused('change-already-waits');
    }
    const { waitsMs, needsApproval } =
      kind === 'merchant.one-admin'
        ? { waitsMs: delayMs, needsApproval: false }
        : await delayOf(tx, merchant, delayMs);
    const now = clock();
    const change = await insertAddressChange(tx, {
      ...columns,
      id: newId(),
      proposed_by: email,
      person_id: personId,
      proposed_at: new Date(now),
      effective_at: new Date(now + waitsMs),
      needs_approval: needsApproval,
    });
    if (waitsMs === 0 && !needsApproval) return applyNow(within, change);
    return tellOfChange(within, 'propose', change);
  });
}

function thingOf({
  kind,
  branch_id: branchId,
  blockchain_id: blockchainId,
}: ChangeColumns): ChangedThing {
  if (kind === 'branch.main' || kind === 'merchant.one-admin') return { kind };
  if (branchId === null || blockchainId === null) throw new Error(`${kind} names no address`);
  return { branchId, blockchainId };
}
