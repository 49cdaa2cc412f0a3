import type { AddressChange, Merchant } from '#storage/database/account-tables.ts';
import type { Connection, Database } from '#storage/database/connection.ts';
import { transact } from '#storage/database/transaction.ts';
import {
  findOpenChange,
  listDueChanges,
  updateAddressChange,
} from '#storage/repositories/accounts/address-changes.ts';
import { listAddressesOn } from '#storage/repositories/accounts/deposit-addresses.ts';
import { findMerchantAdmin } from '#storage/repositories/accounts/merchant-admins.ts';
import {
  clearMainBranch,
  findMainBranch,
  lockMerchant,
  markMainBranch,
  updateMerchant,
} from '#storage/repositories/accounts/merchants.ts';
import type { Clock } from '#time/clock.ts';
import { holdsAddress } from './address-holders.ts';
import { OperationRefused, type Operator } from './audit/audited-change.ts';
import { requireAdmin, requireApprover } from './change-rights.ts';
import { endChange, inOneTransaction, tellOfChange } from './change-steps.ts';
import { putAddress } from './deposit-addresses.ts';
import { requireLockedMerchant } from './merchants.ts';

/** Actor of due changes that lapse because they no longer fit. */
const SERVICE = { actor: 'service', origin: 'worker' } as const;

/**
 * Approves a change. It takes effect at once, or lapses if it no longer fits.
 * @param delayMs How long changes wait, in milliseconds.
 * @returns The change with its outcome.
 * @throws OperationRefused for somebody who may not approve, and for a change that is no longer open.
 */
export function approveChange(
  operator: Operator,
  merchantId: string,
  id: string,
  delayMs: number,
): Promise<AddressChange> {
  return inOneTransaction(operator, async within => {
    const { db: tx } = within;
    const merchant = await requireLockedMerchant(tx, merchantId);
    const change = await requireOpenChange(tx, merchantId, id);
    const { email } = await requireApprover(within, change, delayMs);
    const approved = await updateAddressChange(tx, id, { approved_by: email });
    await tellOfChange(within, 'approve', approved);
    return settle(within, merchant, approved);
  });
}

/**
 * Cancels a change.
 * @throws OperationRefused for anybody but an admin, and for a change that is no longer open.
 */
export function cancelChange(
  operator: Operator,
  merchantId: string,
  id: string,
): Promise<AddressChange> {
  return inOneTransaction(operator, async within => {
    await requireLockedMerchant(within.db, merchantId);
    await requireAdmin(within, merchantId);
    return endChange(within, await requireOpenChange(within.db, merchantId, id), 'cancelled');
  });
}

async function requireOpenChange(
  db: Connection,
  merchantId: string,
  id: string,
): Promise<AddressChange> {
  const change = await findOpenChange(db, merchantId, id);
  if (change === undefined) throw new OperationRefused('change-ended');
  return change;
}

/**
 * Applies due changes, each in its own transaction, or lets them lapse. A failed one is retried in the next
 * run, and does not hold up the others.
 * @param limit Maximum changes per run.
 * @returns How many were due.
 * @throws AggregateError after all others are done, if some failed.
 */
export async function applyDueChanges(db: Database, clock: Clock, limit: number): Promise<number> {
  const due = await listDueChanges(db, new Date(clock()), limit);
  const failures: unknown[] = [];
  for (const { id, merchant_id: merchantId } of due) {
    await transact(db, async tx => {
      const merchant = await lockMerchant(tx, merchantId);
      // Checked again under the lock: another worker, or an admin, may have ended it.
      const change = await findOpenChange(tx, merchantId, id);
      if (merchant === undefined || change === undefined || change.needs_approval) return;
      await settle({ ...SERVICE, db: tx, clock }, merchant, change);
    }).catch(error => void failures.push(error));
  }
  if (failures.length > 0) {
    throw new AggregateError(failures, `${failures.length} changes were not applied`);
  }
  return due.length;
}

/** Applies a change in its proposer's name if it still fits; otherwise lets it lapse. */
async function settle(
  operator: Operator,
  merchant: Merchant,
  change: AddressChange,
): Promise<AddressChange> {
  if (!(await isFitting(operator.db, merchant, change))) {
    return endChange(operator, change, 'lapsed');
  }
  return applyNow(operator, change);
}

/** Applies a change that is known to fit, in its proposer's name. */
export async function applyNow(operator: Operator, change: AddressChange): Promise<AddressChange> {
  const ended_at = new Date(operator.clock());
  const ended = { outcome: 'applied', ended_at } as const;
  const applied = await updateAddressChange(operator.db, change.id, ended);
  await perform(operator, applied);
  return tellOfChange(inNameOfProposer(operator, applied), 'apply', applied);
}

/** The proposer, in whose name a change is applied. The IP address is recorded only if it is the proposer's own. */
function inNameOfProposer(operator: Operator, change: AddressChange): Operator {
  const { proposed_by: actor, person_id: personId, merchant_id: accountId } = change;
  const { address, ...from } = operator;
  const isOwn = operator.personId === personId && address !== undefined;
  return {
    ...from,
    actor,
    accountId,
    ...(personId === null ? {} : { personId }),
    ...(isOwn ? { address } : {}),
  };
}

/** Whether what a change replaces is still in force, and its proposer still an admin of an active merchant. */
async function isFitting(
  db: Connection,
  merchant: Merchant,
  change: AddressChange,
): Promise<boolean> {
  const { kind, merchant_id: merchantId, person_id: personId, former } = change;
  if (merchant.status !== 'active' || personId === null) return false;
  if ((await findMerchantAdmin(db, merchantId, personId)) === undefined) return false;
  if (kind === 'merchant.one-admin') return merchant.needs_second_admin;
  return isSame(former, await readPresent(db, change)) && (await isHeld(db, change));
}

/** What a change replaces, as it is now. */
async function readPresent(
  db: Connection,
  { merchant_id, branch_id, blockchain_id }: AddressChange,
): Promise<string[]> {
  if (branch_id !== null && blockchain_id !== null) {
    return listAddressesOn(db, branch_id, blockchain_id);
  }
  const main = await findMainBranch(db, merchant_id);
  return main === undefined ? [] : [main.id];
}

/**
 * Whether the merchant holds the change's address. A change proposed in an earlier release may name an
 * address of another merchant.
 */
async function isHeld(
  db: Connection,
  { merchant_id: merchantId, blockchain_id: blockchainId, address }: AddressChange,
): Promise<boolean> {
  if (blockchainId === null || address === null) return true;
  return holdsAddress(db, { merchantId, blockchainId, address });
}

/** Whether two lists have the same entries, in any order. */
export function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every(entry => other.includes(entry));
}

/** Puts a change into effect. */
async function perform(operator: Operator, change: AddressChange): Promise<void> {
  const { kind, merchant_id: merchantId, branch_id: branchId, blockchain_id, address } = change;
  const { db: tx } = operator;
  if (kind === 'merchant.one-admin') {
    await updateMerchant(tx, merchantId, { needs_second_admin: false });
  } else if (kind === 'branch.main' && branchId !== null) {
    await clearMainBranch(tx, merchantId);
    await markMainBranch(tx, branchId);
  } else if (
    kind !== 'branch.main' &&
    branchId !== null &&
    blockchain_id !== null &&
    address !== null
  ) {
    const walletId = change.wallet_id;
    const place = { merchantId, branchId, blockchainId: blockchain_id, address, walletId };
    await putAddress(operator, kind, place);
  }
}
