import type { Insertable, Updateable } from 'kysely';
import type {
  Branch,
  BranchesTable,
  Merchant,
  MerchantsTable,
} from '../../database/account-tables.ts';
import type { Connection } from '../../database/connection.ts';

export function insertMerchant(db: Connection, row: Insertable<MerchantsTable>): Promise<Merchant> {
  return db.insertInto('merchants').values(row).returningAll().executeTakeFirstOrThrow();
}

export function findMerchant(db: Connection, id: string): Promise<Merchant | undefined> {
  return db.selectFrom('merchants').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Newest first, at most `limit`. With `before`, only those older than that merchant. */
export function listMerchants(
  db: Connection,
  { limit, before }: { limit: number; before?: string | undefined },
): Promise<Merchant[]> {
  return db
    .selectFrom('merchants')
    .selectAll()
    .$if(before !== undefined, query => query.where('id', '<', before ?? ''))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

export function updateMerchant(
  db: Connection,
  id: string,
  change: Updateable<MerchantsTable>,
): Promise<Merchant> {
  return db
    .updateTable('merchants')
    .set(change)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/**
 * Reads a merchant and locks its row until the transaction ends, so that limits checked under the lock are
 * exact. Does not block inserts of payments, which reference the row.
 */
export function lockMerchant(db: Connection, id: string): Promise<Merchant | undefined> {
  return db
    .selectFrom('merchants')
    .selectAll()
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

export function insertBranch(db: Connection, row: Insertable<BranchesTable>): Promise<Branch> {
  return db.insertInto('branches').values(row).returningAll().executeTakeFirstOrThrow();
}

export function findBranch(db: Connection, id: string): Promise<Branch | undefined> {
  return db.selectFrom('branches').selectAll().where('id', '=', id).executeTakeFirst();
}

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
export function listBranches(db: Connection, merchantId: string): Promise<Branch[]> {
  return db
    .selectFrom('branches')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .orderBy('is_main', 'desc')
    .orderBy('created_at')
    .orderBy('id')
    .limit(1000)
    .execute();
}

/** Unsets the main flag of the merchant's current main branch. */
export async function clearMainBranch(db: Connection, merchantId: string): Promise<void> {
  await db
    .updateTable('branches')
    .set({ is_main: false })
    .where('merchant_id', '=', merchantId)
    .where('is_main', '=', true)
    .execute();
}
