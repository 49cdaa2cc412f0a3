import type { Branch } from '../../database/account-tables.ts';
import type { Connection } from '../../database/connection.ts';
import {
  findBy,
  findById,
  insertInto,
  listBy,
  listNewest,
  lockById,
  updateByIdOrThrow,
} from '../rows.ts';

export const insertMerchant = insertInto('merchants');
export const findMerchant = findById('merchants');
/** The test twin of a live merchant. */
export const findTestTwin = findBy('merchants', 'test_of');
export const listMerchants = listNewest('merchants');
export const updateMerchant = updateByIdOrThrow('merchants');

/**
 * Reads a merchant and locks its row until the transaction ends, so that limits checked under the lock are
 * exact. Does not block inserts of payments, which reference the row.
 */
export const lockMerchant = lockById('merchants', 'forNoKeyUpdate');
export const insertBranch = insertInto('branches');
export const findBranch = findById('branches');

/** The merchant's main branch, which API payments belong to. */
export function findMainBranch(db: Connection, merchantId: string): Promise<Branch | undefined> {
  return db
    .selectFrom('branches')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('is_main', '=', true)
    .executeTakeFirst();
}

/** All branches, main first, at most 1,000. */
export const listBranches = listBy(
  'branches',
  'merchant_id',
  ['is_main desc', 'created_at', 'id'],
  1000,
);

/** Unsets the main flag of the merchant's current main branch. */
export async function clearMainBranch(db: Connection, merchantId: string): Promise<void> {
  await db
    .updateTable('branches')
    .set({ is_main: false })
    .where('merchant_id', '=', merchantId)
    .where('is_main', '=', true)
    .execute();
}

/** Makes a branch the merchant's main one; call `clearMainBranch` before. */
export async function markMainBranch(db: Connection, branchId: string): Promise<void> {
  await db.updateTable('branches').set({ is_main: true }).where('id', '=', branchId).execute();
}
