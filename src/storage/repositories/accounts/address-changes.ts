import { sql } from 'kysely';
import type { AddressChange } from '../../database/account-tables.ts';
import type { Connection } from '../../database/connection.ts';
import { hasRow, insertInto, updateByIdOrThrow } from '../rows.ts';

export const insertAddressChange = insertInto('address_changes');
export const updateAddressChange = updateByIdOrThrow('address_changes');

/** Maximum number of changes that are listed; an account has a few open ones. */
const LISTED_MAXIMUM = 100;

/** As in the index: open changes come last. */
const ENDED = sql<Date>`coalesce(ended_at, 'infinity')`;
const FOREVER = sql<Date>`'infinity'::timestamptz`;

const openOf = (db: Connection, merchantId: string) =>
  db
    .selectFrom('address_changes')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('outcome', 'is', null)
    .where(ENDED, '=', FOREVER);

/** An open change of this merchant. */
export function findOpenChange(
  db: Connection,
  merchantId: string,
  id: string,
): Promise<AddressChange | undefined> {
  return openOf(db, merchantId).where('id', '=', id).executeTakeFirst();
}

/** A change as pages show it, with the names of what it is about. */
export interface NamedChange extends AddressChange {
  readonly branch_name: string | null;
  readonly network_name: string | null;
  /** Symbol of the network's asset. */
  readonly asset: string | null;
  /** Name of the person who proposed it; null for an operator. */
  readonly proposer: string | null;
}

const namedOf = (db: Connection, merchantId: string) =>
  db
    .selectFrom('address_changes')
    .leftJoin('branches', 'branches.id', 'address_changes.branch_id')
    .leftJoin('networks', 'networks.id', 'address_changes.blockchain_id')
    .leftJoin('people', 'people.id', 'address_changes.person_id')
    .selectAll('address_changes')
    .select(['branches.name as branch_name', 'networks.name as network_name'])
    .select('networks.asset_symbol as asset')
    .select('people.name as proposer')
    .where('address_changes.merchant_id', '=', merchantId);

/** A change of this merchant, open or ended. */
export function findNamedChange(
  db: Connection,
  merchantId: string,
  id: string,
): Promise<NamedChange | undefined> {
  return namedOf(db, merchantId).where('address_changes.id', '=', id).executeTakeFirst();
}

/** The open changes of a merchant, the latest first, at most 100. */
export function listOpenChanges(db: Connection, merchantId: string): Promise<NamedChange[]> {
  return namedOf(db, merchantId)
    .where('outcome', 'is', null)
    .where(ENDED, '=', FOREVER)
    .orderBy('address_changes.id', 'desc')
    .limit(LISTED_MAXIMUM)
    .execute();
}

/**
 * Changes that a merchant's people have to be told of: open ones, and those by operators that ended after `since`. Open
 * ones first, then the latest first.
 */
export function listToldChanges(
  db: Connection,
  merchantId: string,
  { since, limit }: { readonly since: Date; readonly limit: number },
): Promise<NamedChange[]> {
  return namedOf(db, merchantId)
    .where(ENDED, '>', since)
    .where(({ eb, or, and }) =>
      or([
        eb('outcome', 'is', null),
        and([
          eb('address_changes.person_id', 'is', null),
          // Leaves out a change that set the address already in force.
          sql<boolean>`(wallet_id is not null or former is distinct from array[address_changes.address])`,
        ]),
      ]),
    )
    .orderBy(ENDED, 'desc')
    .orderBy('address_changes.id', 'desc')
    .limit(limit)
    .execute();
}

/** What a change is about; each thing has one open change at most: a branch and network, or else a kind. */
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

/** Open changes that are due and need no second admin, at most `limit`. */
export function listDueChanges(
  db: Connection,
  now: Date,
  limit: number,
): Promise<Pick<AddressChange, 'id' | 'merchant_id'>[]> {
  return db
    .selectFrom('address_changes')
    .select(['id', 'merchant_id'])
    .where('outcome', 'is', null)
    .where(({ not, ref }) => not(ref('needs_approval')))
    .where('effective_at', '<=', now)
    .orderBy('effective_at')
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Makes a merchant's open changes need a second admin, except for `merchant.one-admin`. */
export async function needApprovals(db: Connection, merchantId: string): Promise<void> {
  await db
    .updateTable('address_changes')
    .set({ needs_approval: true })
    .where('merchant_id', '=', merchantId)
    .where('outcome', 'is', null)
    .where('kind', '!=', 'merchant.one-admin')
    .execute();
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
