import type { Insertable, Updateable } from 'kysely';
import type { ActiveStatus, PartnerRole } from '../database/account-tables.ts';
import type { Connection } from '../database/connection.ts';
import type { ApiKey, ApiKeysTable } from '../database/key-tables.ts';
import { type Given, prepare } from '../database/prepared.ts';
import { type MerchantState, toMerchantState } from './merchant-state.ts';

/** A key with the state of its accounts: everything that authentication needs. */
export interface KeyWithAccounts {
  key: ApiKey;
  merchant: MerchantState | null;
  member: {
    id: string;
    role: PartnerRole;
    status: ActiveStatus;
    partner: { id: string; status: ActiveStatus };
  } | null;
}

/**
 * Listed by name: `select *` would invalidate the prepared statement when a migration adds a
 * column.
 */
const API_KEY = [
  'api_keys.id',
  'api_keys.merchant_id',
  'api_keys.partner_member_id',
  'api_keys.name',
  'api_keys.scopes',
  'api_keys.secret',
  'api_keys.passphrase_hash',
  'api_keys.master_key_version',
  'api_keys.passphrase_key_version',
  'api_keys.previous_secret',
  'api_keys.previous_passphrase_hash',
  'api_keys.previous_master_key_version',
  'api_keys.previous_passphrase_key_version',
  'api_keys.previous_valid_until',
  'api_keys.expires_at',
  'api_keys.revoked_at',
  'api_keys.rotated_at',
  'api_keys.created_at',
] as const satisfies readonly `api_keys.${keyof ApiKey}`[];

const keyAtOrAfter = prepare('key_at_or_after', (db, given: Given<{ id: string }>) => {
  const next = db.selectFrom('api_keys').select('id').orderBy('id').limit(1);
  return db
    .selectFrom('api_keys')
    .leftJoin('merchants', 'merchants.id', 'api_keys.merchant_id')
    .leftJoin('partners as owner', 'owner.id', 'merchants.partner_id')
    .leftJoin('partner_members as member', 'member.id', 'api_keys.partner_member_id')
    .leftJoin('partners as partner', 'partner.id', 'member.partner_id')
    .select(API_KEY)
    .select([
      'merchants.status as merchantStatus',
      'merchants.account_kind as accountKind',
      'merchants.onboarding_status as onboardingStatus',
      'owner.id as ownerId',
      'owner.status as ownerStatus',
      'owner.self_service_api_payments as selfService',
      'member.role as memberRole',
      'member.status as memberStatus',
      'partner.id as partnerId',
      'partner.status as partnerStatus',
    ])
    .where('api_keys.id', '=', ({ fn }) =>
      fn.coalesce(next.where('id', '>=', given('id')), next.where('id', '<', given('id'))),
    );
});

/**
 * The key with this ID or, where there is none, that with the next higher one or else the lowest, so that
 * an unknown ID costs the database and the driver what a known one does. Compare the ID of what is found.
 * @returns undefined where there is no key at all.
 */
export async function findKeyAtOrAfter(
  db: Connection,
  keyId: string,
): Promise<KeyWithAccounts | undefined> {
  const [row] = await keyAtOrAfter(db, { id: keyId });
  if (row === undefined) return undefined;

  const {
    merchantStatus,
    accountKind,
    onboardingStatus,
    ownerId,
    ownerStatus,
    selfService,
    memberRole,
    memberStatus,
    partnerId,
    partnerStatus,
    ...key
  } = row;
  const merchant =
    key.merchant_id !== null && merchantStatus && accountKind && onboardingStatus
      ? toMerchantState(key.merchant_id, {
          merchantStatus,
          accountKind,
          onboardingStatus,
          ownerId,
          ownerStatus,
          selfService,
        })
      : null;
  const member =
    key.partner_member_id !== null && memberRole && memberStatus && partnerId && partnerStatus
      ? {
          id: key.partner_member_id,
          role: memberRole,
          status: memberStatus,
          partner: { id: partnerId, status: partnerStatus },
        }
      : null;
  return { key, merchant, member };
}

export function insertApiKey(db: Connection, row: Insertable<ApiKeysTable>): Promise<ApiKey> {
  return db.insertInto('api_keys').values(row).returningAll().executeTakeFirstOrThrow();
}

/** A key with the role of the partner member it belongs to; null for a merchant's key. */
export type KeyWithRole = ApiKey & { memberRole: PartnerRole | null };

/** Reads a key and locks its row until the transaction ends. */
export function lockApiKey(db: Connection, id: string): Promise<KeyWithRole | undefined> {
  return keysWithRole(db).where('api_keys.id', '=', id).forUpdate('api_keys').executeTakeFirst();
}

function keysWithRole(db: Connection) {
  return db
    .selectFrom('api_keys')
    .leftJoin('partner_members as member', 'member.id', 'api_keys.partner_member_id')
    .selectAll('api_keys')
    .select('member.role as memberRole');
}

export function updateApiKey(
  db: Connection,
  id: string,
  change: Updateable<ApiKeysTable>,
): Promise<ApiKey> {
  return db
    .updateTable('api_keys')
    .set(change)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Replaces the hash of a passphrase, unless the key has been rotated since. */
export async function renewPassphraseHash(
  db: Connection,
  id: string,
  { former, hash, version }: { former: Buffer; hash: Buffer; version: number },
): Promise<void> {
  await db
    .updateTable('api_keys')
    .set({ passphrase_hash: hash, passphrase_key_version: version })
    .where('id', '=', id)
    .where('passphrase_hash', '=', former)
    .execute();
}

/** How many keys of a merchant are neither revoked nor expired. */
export async function countActiveKeys(
  db: Connection,
  merchantId: string,
  now: Date,
): Promise<number> {
  const { count } = await db
    .selectFrom('api_keys')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('merchant_id', '=', merchantId)
    .where('revoked_at', 'is', null)
    .where(({ eb, or }) => or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .executeTakeFirstOrThrow();
  return count;
}

/** Whose keys: a merchant's, all of a partner's members, or one member's. */
export type KeyHolder =
  | { readonly merchantId: string }
  | { readonly partnerId: string }
  | { readonly memberId: string };

/** A key with its role and what it was last used for. */
export type KeyWithUse = KeyWithRole & {
  /** Name of the partner member whose key it is; null for a merchant's key. */
  memberName: string | null;
  lastUsedAt: Date | null;
  lastAddress: string | null;
  lastError: string | null;
  lastErrorAt: Date | null;
};

function keysWithUse(db: Connection, holder: KeyHolder) {
  const query = keysWithRole(db)
    .leftJoin('api_key_usage as usage', 'usage.key_id', 'api_keys.id')
    .select([
      'member.name as memberName',
      'usage.last_used_at as lastUsedAt',
      'usage.address as lastAddress',
      'usage.last_error as lastError',
      'usage.last_error_at as lastErrorAt',
    ]);
  if ('merchantId' in holder) return query.where('merchant_id', '=', holder.merchantId);
  if ('memberId' in holder) return query.where('partner_member_id', '=', holder.memberId);
  return query.where('member.partner_id', '=', holder.partnerId);
}

/** Keys of a holder with their use, newest first, at most 1,000. */
export function listKeysWithUse(db: Connection, holder: KeyHolder): Promise<KeyWithUse[]> {
  return keysWithUse(db, holder)
    .orderBy('api_keys.created_at', 'desc')
    .orderBy('api_keys.id')
    .limit(1000)
    .execute();
}

/** Undefined for a key of others, as for a missing one. */
export function findHeldKey(
  db: Connection,
  holder: KeyHolder,
  id: string,
): Promise<KeyWithUse | undefined> {
  return keysWithUse(db, holder).where('api_keys.id', '=', id).executeTakeFirst();
}

/** Keys of a merchant or of a partner's members, newest first, at most 1,000. */
export function listApiKeys(
  db: Connection,
  owner: { merchantId: string } | { partnerId: string },
): Promise<KeyWithRole[]> {
  const query = keysWithRole(db)
    .orderBy('api_keys.created_at', 'desc')
    .orderBy('api_keys.id')
    .limit(1000);
  if ('merchantId' in owner) return query.where('merchant_id', '=', owner.merchantId).execute();
  return query.where('member.partner_id', '=', owner.partnerId).execute();
}

/**
 * Wipes previous secrets whose grace period is over, of at most `limit` keys.
 * @returns The number of keys.
 */
export async function wipePreviousSecrets(
  db: Connection,
  now: Date,
  limit: number,
): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable('api_keys')
    .set({
      previous_secret: null,
      previous_passphrase_hash: null,
      previous_master_key_version: null,
      previous_passphrase_key_version: null,
      previous_valid_until: null,
    })
    .where(
      'id',
      'in',
      db
        .selectFrom('api_keys')
        .select('id')
        .where('previous_valid_until', '<=', now)
        .limit(limit)
        .forUpdate()
        .skipLocked(),
    )
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}
