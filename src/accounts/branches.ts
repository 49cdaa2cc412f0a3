import { newId } from '#crypto/new-id.ts';
import type { Branch } from '#storage/database/account-tables.ts';
import type { Connection } from '#storage/database/connection.ts';
import {
  clearMainBranch,
  findBranch,
  findMainBranch,
  insertBranch,
  listBranches,
  markMainBranch,
} from '#storage/repositories/accounts/merchants.ts';
import { audited, OperationRefused, type Operator } from './audit/audited-change.ts';
import { inOneTransaction, lapseOpen, recordOperatorChange } from './change-steps.ts';
import { requireLockedMerchant } from './merchants.ts';

/** Maximum branches of a merchant: its pages and reports read all of them. */
export const BRANCHES_MAXIMUM = 100;

/**
 * Adds a branch. A new main branch replaces the present one at once, so only operators may add one.
 * @throws OperationRefused for an unknown merchant, for a name that another branch of it has, but for case and blanks
 * around it, and above BRANCHES_MAXIMUM. Both hold for concurrent calls, too.
 */
export function createBranch(
  operator: Operator,
  input: { readonly merchantId: string; readonly name: string; readonly main: boolean },
): Promise<Branch> {
  const { merchantId, name, main } = input;
  return inOneTransaction(operator, async within => {
    const branch = await audited(within, 'branch.create', async (tx, now) => {
      await requireLockedMerchant(tx, merchantId);
      await requirePlace(tx, merchantId, name);
      const row = { id: newId(), merchant_id: merchantId, name, is_main: false, created_at: now };
      const result = await insertBranch(tx, row);
      return { result, objectId: result.id, detail: { ...input } };
    });
    return main ? moveMain(within, branch) : branch;
  });
}

/**
 * Makes a branch its merchant's main one, at once. A waiting change of the main branch lapses.
 * @throws OperationRefused for an unknown branch, and for the main one.
 */
export function setMainBranch(operator: Operator, id: string): Promise<Branch> {
  return inOneTransaction(operator, async within => {
    const found = await findBranch(within.db, id);
    if (found === undefined) throw new OperationRefused('branch-unknown', { branchId: id });
    await requireLockedMerchant(within.db, found.merchant_id);
    const main = await findMainBranch(within.db, found.merchant_id);
    if (main?.id === id) throw new OperationRefused('branch-already-main');
    return moveMain(within, found);
  });
}

/**
 * Refuses a branch above BRANCHES_MAXIMUM, and one whose name is taken. Call it with the merchant locked.
 */
async function requirePlace(tx: Connection, merchantId: string, name: string): Promise<void> {
  const branches = await listBranches(tx, merchantId);
  if (branches.length >= BRANCHES_MAXIMUM) {
    throw new OperationRefused('too-many-branches', { maximum: BRANCHES_MAXIMUM });
  }
  const same = branches.find(branch => plainOf(branch.name) === plainOf(name));
  if (same !== undefined) {
    throw new OperationRefused('branch-name-taken', { name: same.name });
  }
}

/** A name as people compare it. */
function plainOf(name: string): string {
  return name.trim().toLowerCase();
}

/** Call it with the merchant locked. */
async function moveMain(operator: Operator, branch: Branch): Promise<Branch> {
  const { db: tx } = operator;
  const { id: branch_id, merchant_id } = branch;
  const kind = 'branch.main';
  const former = await findMainBranch(tx, merchant_id);
  await clearMainBranch(tx, merchant_id);
  await markMainBranch(tx, branch_id);
  await lapseOpen(operator, merchant_id, { kind });
  await recordOperatorChange(operator, {
    kind,
    merchant_id,
    branch_id,
    blockchain_id: null,
    address: null,
    former: former === undefined ? [] : [former.id],
  });
  return { ...branch, is_main: true };
}
