import type { MerchantUser } from '../../database/account-tables.ts';
import type { Connection } from '../../database/connection.ts';
import {
  findById,
  findWhere,
  insertInto,
  listBy,
  lockById,
  NEWEST_FIRST,
  updateById,
} from '../rows.ts';
import { MERCHANT_STATE, type MerchantState, toMerchantState } from './merchant-state.ts';

/** A user with the state of its accounts: everything that authentication needs. */
export interface UserWithAccounts {
  user: MerchantUser;
  merchant: MerchantState;
}

export async function findUserByClientId(
  db: Connection,
  clientId: string,
): Promise<UserWithAccounts | undefined> {
  const row = await db
    .selectFrom('merchant_users')
    .innerJoin('merchants', 'merchants.id', 'merchant_users.merchant_id')
    .leftJoin('partners as owner', 'owner.id', 'merchants.partner_id')
    .selectAll('merchant_users')
    .select(MERCHANT_STATE)
    .where('merchant_users.client_id', '=', clientId)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const {
    merchantStatus,
    accountKind,
    onboardingStatus,
    ownerId,
    ownerStatus,
    selfService,
    ...user
  } = row;
  return { user, merchant: toMerchantState(user.merchant_id, row) };
}

export const insertMerchantUser = insertInto('merchant_users');
export const findMerchantUser = findById('merchant_users');
export const lockMerchantUser = lockById('merchant_users');
export const updateMerchantUser = updateById('merchant_users');

/** The user as whom a person signs in to a merchant, even if inactive. */
export const findUserOfPerson = findWhere('merchant_users', 'merchant_id', 'person_id');

/**
 * Replaces the hash of an API key, unless another key has been issued since, or a newer master key is in
 * use: while a new one is rolled out, some processes still have the former as their current one.
 */
export async function renewApiKeyHash(
  db: Connection,
  id: string,
  { former, hash, version }: { former: Buffer; hash: Buffer; version: number },
): Promise<void> {
  await db
    .updateTable('merchant_users')
    .set({ api_key_hash: hash, master_key_version: version })
    .where('id', '=', id)
    .where('api_key_hash', '=', former)
    .where(({ eb, selectFrom }) =>
      eb(
        eb.val(version),
        '=',
        selectFrom('master_keys').select('version').orderBy('created_at', 'desc').limit(1),
      ),
    )
    .execute();
}

/** All users of a merchant, newest first, at most 1,000. */
export const listMerchantUsers = listBy('merchant_users', 'merchant_id', NEWEST_FIRST, 1000);
