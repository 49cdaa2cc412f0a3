import { sql } from 'kysely';
import type { AddressChange } from '../../database/account-tables.ts';
import type { Connection } from '../../database/connection.ts';
import { hasRow, insertInto, updateByIdOrThrow } from '../rows.ts';

export const insertAddressChange = insertInto('address_changes');
export const updateAddressChange = updateByIdOrThrow('address_changes');

/** Most changes that are listed: what waits in an account is a few. */
const LISTED_MAXIMUM = 100;

const openOf = (db: Connection, merchantId: string) =>
  db
    .selectFrom('address_changes')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('outcome', 'is', null)
    // As the index has it: what is open stands at its end.
    .where(sql`coalesce(ended_at, 'infinity')`, '=', sql`'infinity'::timestamptz`);

/** The open changes of a merchant, the latest first, at most 100. */
export function listOpenChanges(db: Connection, merchantId: string): Promise<AddressChange[]> {
  return openOf(db, merchantId).orderBy('id', 'desc').limit(LISTED_MAXIMUM).execute();
}

/** An open change of this merchant. */
export function findOpenChange(
  db: Connection,
  merchantId: string,
  id: string,
): Promise<AddressChange | undefined> {
  return openOf(db, merchantId).where('id', '=', id).executeTakeFirst();
}

/** Which open change a new one would be beside: of its branch and network, or else of its kind. */
export type ChangedThing =
  | { readonly branchId: string; readonly blockchainId: string }
  | { readonly kind: 'branch.main' | 'merchant.one-admin' };

/** The open change of a thing; there is one at most. */
export function findOpenChangeOf(
  db: Connection,
  merchantId: string,
  thing: ChangedThing,
): Promise<AddressChange | undefined> {
  const open = openOf(db, merchantId);
  const found =
    'kind' in thing
      ? open.where('kind', '=', thing.kind)
      : open
          .where('branch_id', '=', thing.branchId)
          .where('blockchain_id', '=', thing.blockchainId);
  return found.executeTakeFirst();
}

/** Open changes whose time has come and which no second admin is needed for, at most `limit`. */
export function listDueChanges(
  db: Connection,
  now: Date,
  limit: number,
): Promise<Pick<AddressChange, 'id' | 'merchant_id'>[]> {
  return db
    .selectFrom('address_changes')
    .select(['id', 'merchant_id'])
    .where('outcome', 'is', null)
    .where('needs_approval', '=', false)
    .where('effective_at', '<=', now)
    .orderBy('effective_at')
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Makes a second admin necessary for what is open in a merchant's account. */
export async function needApprovals(db: Connection, merchantId: string): Promise<void> {
  await db
    .updateTable('address_changes')
    .set({ needs_approval: true })
    .where('merchant_id', '=', merchantId)
    .where('outcome', 'is', null)
    .where('kind', '!=', 'merchant.one-admin')
    .execute();
}

/** Whether another merchant has, or ever had, an address. */
export function isAddressOfOthers(
  db: Connection,
  merchantId: string,
  { blockchainId, address }: { readonly blockchainId: string; readonly address: string },
): Promise<boolean> {
  return hasRow(
    db
      .selectFrom('account_addresses')
      .select('merchant_id')
      .where('blockchain_id', '=', blockchainId)
      .where('address', '=', address)
      .where('merchant_id', '!=', merchantId),
  );
}

/** Whether a payment of a merchant has ever been successful. */
export function hasSuccessfulPayment(db: Connection, merchantId: string): Promise<boolean> {
  return hasRow(
    db
      .selectFrom('payments')
      .select('paid_at')
      .where('merchant_id', '=', merchantId)
      .where('status', '=', 'successful'),
  );
}
