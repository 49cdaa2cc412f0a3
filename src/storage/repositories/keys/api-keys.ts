import type { PartnerRole } from '../../database/account-tables.ts';
import type { Connection } from '../../database/connection.ts';
import type { ApiKey } from '../../database/key-tables.ts';
import { countRows, insertInto, updateByIdOrThrow } from '../rows.ts';
import { wipePrevious } from './sealed-secrets.ts';

export const insertApiKey = insertInto('api_keys');

/** A key with the role of the partner member it belongs to; null for a merchant's key. */
export type KeyWithRole = ApiKey & { member_role: PartnerRole | null };

/** Reads a key and locks its row until the transaction ends. */
export function lockApiKey(db: Connection, id: string): Promise<KeyWithRole | undefined> {
  return keysWithRole(db).where('api_keys.id', '=', id).forUpdate('api_keys').executeTakeFirst();
}

function keysWithRole(db: Connection) {
  return db
    .selectFrom('api_keys')
    .leftJoin('partner_members as member', 'member.id', 'api_keys.partner_member_id')
    .selectAll('api_keys')
    .select('member.role as member_role');
}

export const updateApiKey = updateByIdOrThrow('api_keys');

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

/** Whose keys: a merchant's, all of a partner's members, or one member's. */
export type KeyHolder =
  | { readonly merchantId: string }
  | { readonly partnerId: string }
  | { readonly memberId: string };

/** A key with its role and what it was last used for. */
export type KeyWithUse = KeyWithRole & {
  /** Name of the partner member whose key it is; null for a merchant's key. */
  member_name: string | null;
  last_used_at: Date | null;
  last_address: string | null;
  last_error: string | null;
  last_error_at: Date | null;
};

/** IDs and names of a holder's keys. */
export function keysHeldBy(db: Connection, holder: KeyHolder) {
  const keys = db.selectFrom('api_keys').select(['api_keys.id', 'api_keys.name']);
  if ('merchantId' in holder) return keys.where('merchant_id', '=', holder.merchantId);
  if ('memberId' in holder) return keys.where('partner_member_id', '=', holder.memberId);
  const members = db.selectFrom('partner_members').select('id');
  return keys.where('partner_member_id', 'in', members.where('partner_id', '=', holder.partnerId));
}

/** How many keys of a holder are neither revoked nor expired. */
export function countActiveKeys(db: Connection, holder: KeyHolder, now: Date): Promise<number> {
  return countRows(
    keysHeldBy(db, holder)
      .clearSelect()
      .where('revoked_at', 'is', null)
      .where(({ eb, or }) => or([eb('expires_at', 'is', null), eb('expires_at', '>', now)])),
  );
}

function keysWithUse(db: Connection, holder: KeyHolder) {
  const query = keysWithRole(db)
    .leftJoin('api_key_usage as usage', 'usage.key_id', 'api_keys.id')
    .select([
      'member.name as member_name',
      'usage.last_used_at',
      'usage.address as last_address',
      'usage.last_error',
      'usage.last_error_at',
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

/** Wipes previous pairs whose grace period is over, of at most `limit` keys; returns how many. */
export function wipePreviousSecrets(db: Connection, now: Date, limit: number): Promise<number> {
  const columns = { previous_passphrase_hash: null, previous_passphrase_key_version: null };
  return wipePrevious(db, 'api_keys', columns, now, limit);
}
