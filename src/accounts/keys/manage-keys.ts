import type { Keyring } from '#crypto/keyring.ts';
import { randomHex, randomToken } from '#crypto/random-hex.ts';
import type { PartnerRole } from '#storage/database/account-tables.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { ApiKey } from '#storage/database/key-tables.ts';
import { findPartnerMember } from '#storage/repositories/accounts/partners.ts';
import {
  countActiveKeys,
  insertApiKey,
  type KeyWithRole,
  lockApiKey,
  updateApiKey,
} from '#storage/repositories/keys/api-keys.ts';
import { audited, OperationRefused, type Operator } from '../audit/audited-change.ts';
import { type Notices, namedBy, notifyAdmins } from '../mail/notices.ts';
import { requireLockedMerchant } from '../merchants.ts';
import { MERCHANT_SCOPES, PARTNER_OWNER_SCOPES, scopesOf } from './scopes.ts';

/** Most keys of a merchant that are neither revoked nor expired. */
export const ACTIVE_KEYS_MAXIMUM = 10;
/** How long the previous pair of secret and passphrase still works after a rotation, in milliseconds. */
export const ROTATION_GRACE_MS = 24 * 60 * 60 * 1000;

/** Key IDs and secrets are a prefix and random bytes in hex; passphrases are random bytes in base64url. */
export const KEY_ID_PREFIX = 'mpk_';
export const KEY_ID_BYTES = 12;
export const SECRET_PREFIX = 'mps_';
export const SECRET_BYTES = 32;
export const PASSPHRASE_BYTES = 32;

export type KeyOwner = { readonly merchantId: string } | { readonly memberId: string };

/** A new pair of secret and passphrase. Neither can be read again later. */
export interface IssuedKey {
  readonly keyId: string;
  readonly secret: string;
  readonly passphrase: string;
  /** The scopes that the key has. Those of a partner key follow from the role of its member. */
  readonly scopes: readonly string[];
  readonly expiresAt: Date | null;
}

export interface NewKey {
  readonly owner: KeyOwner;
  readonly name: string;
  /** Default: all scopes that the owner's keys may have. */
  readonly scopes?: readonly string[] | undefined;
  readonly expiresAt?: Date | undefined;
}

/**
 * @throws OperationRefused for an unknown owner or scope, an expiry in the past, or a merchant with
 * ACTIVE_KEYS_MAXIMUM active keys, concurrent creations included.
 */
export function createKey(operator: Operator, keyring: Keyring, input: NewKey): Promise<IssuedKey> {
  return audited(operator, 'key.create', async (tx, now) => {
    const { owner, name, expiresAt = null } = input;
    if (expiresAt !== null && expiresAt <= now) throw new OperationRefused('key-expiry-passed');
    const stored = chooseScopes(owner, input.scopes);
    const role = await requireOwner(tx, owner, now);

    const keyId = randomHex(KEY_ID_PREFIX, KEY_ID_BYTES);
    const pair = issuePair(keyring, keyId);
    await insertApiKey(tx, {
      id: keyId,
      merchant_id: 'merchantId' in owner ? owner.merchantId : null,
      partner_member_id: 'memberId' in owner ? owner.memberId : null,
      name,
      scopes: stored,
      ...pair.columns,
      expires_at: expiresAt,
      created_at: now,
    });
    const scopes = scopesOf(stored, role);
    await tellOfKey({ ...operator, db: tx }, owner, { verb: 'created', keyId, name });
    const result = { keyId, ...pair.shown, scopes, expiresAt };
    return { result, objectId: keyId, detail: { ...owner, name, scopes, expiresAt } };
  });
}

/**
 * Issues a new pair under the same key ID. Scopes and expiry stay the same.
 * @param immediately Ends the previous pair now instead of after ROTATION_GRACE_MS.
 * @throws OperationRefused for an unknown, revoked or expired key.
 */
export function rotateKey(
  operator: Operator,
  keyring: Keyring,
  keyId: string,
  immediately: boolean,
): Promise<IssuedKey> {
  return audited(operator, 'key.rotate', async (tx, now) => {
    const key = await requireUsableKey(tx, keyId, now);
    const pair = issuePair(keyring, keyId);
    const previous = immediately
      ? NO_PREVIOUS_PAIR
      : {
          previous_secret: key.secret,
          previous_passphrase_hash: key.passphrase_hash,
          previous_master_key_version: key.master_key_version,
          previous_passphrase_key_version: key.passphrase_key_version,
          previous_valid_until: new Date(now.getTime() + ROTATION_GRACE_MS),
        };
    await updateApiKey(tx, keyId, { ...pair.columns, ...previous, rotated_at: now });
    await tellOfKey({ ...operator, db: tx }, ownerOf(key), {
      verb: 'rotated',
      keyId,
      name: key.name,
    });
    const scopes = scopesOf(key.scopes, key.member_role);
    const result = { keyId, ...pair.shown, scopes, expiresAt: key.expires_at };
    return { result, objectId: keyId, detail: { immediately } };
  });
}

/**
 * Revokes a key permanently and deletes its secrets.
 * @throws OperationRefused for an unknown or revoked key.
 */
export function revokeKey(operator: Operator, keyId: string): Promise<KeyWithRole> {
  return audited(operator, 'key.revoke', async (tx, now) => {
    const key = await lockApiKey(tx, keyId);
    if (key === undefined) throw new OperationRefused('key-unknown', { keyId });
    if (key.revoked_at !== null) throw new OperationRefused('key-already-revoked', { keyId });
    const revoked = await updateApiKey(tx, keyId, {
      revoked_at: now,
      secret: null,
      // The hash of the previous passphrase stays: within the grace period it gets E2005 as well.
      previous_secret: null,
    });
    return { result: { ...revoked, member_role: key.member_role }, objectId: keyId };
  });
}

function ownerOf({ id, merchant_id: merchantId, partner_member_id: memberId }: ApiKey): KeyOwner {
  if (merchantId !== null) return { merchantId };
  if (memberId !== null) return { memberId };
  throw new Error(`the key ${id} belongs to nobody`);
}

/** Notifies the account's admins or owners of a new pair, and the partner member whose key it is. */
async function tellOfKey(
  operator: Operator,
  owner: KeyOwner,
  key: Pick<Notices['key-made'], 'verb' | 'keyId' | 'name'>,
): Promise<void> {
  const { db, clock } = operator;
  const facts = { ...key, by: namedBy(operator) };
  const notice = { kind: 'key-made', facts, now: new Date(clock()) } as const;
  if ('merchantId' in owner) {
    return notifyAdmins(db, { kind: 'merchant', accountId: owner.merchantId }, notice);
  }
  const member = await findPartnerMember(db, owner.memberId);
  if (member === undefined) return;
  await notifyAdmins(db, { kind: 'partner', accountId: member.partner_id }, notice, {
    besides: member.id,
  });
}

const NO_PREVIOUS_PAIR = {
  previous_secret: null,
  previous_passphrase_hash: null,
  previous_master_key_version: null,
  previous_passphrase_key_version: null,
  previous_valid_until: null,
};

function issuePair(keyring: Keyring, keyId: string) {
  const secret = randomHex(SECRET_PREFIX, SECRET_BYTES);
  const passphrase = randomToken(PASSPHRASE_BYTES);
  return {
    shown: { secret, passphrase },
    columns: {
      secret: keyring.seal(secret, keyId),
      passphrase_hash: keyring.hash(passphrase, keyId),
      master_key_version: keyring.currentVersion,
      passphrase_key_version: null,
    },
  };
}

function chooseScopes(owner: KeyOwner, requested: readonly string[] | undefined): string[] {
  const known: readonly string[] = 'merchantId' in owner ? MERCHANT_SCOPES : PARTNER_OWNER_SCOPES;
  if (requested === undefined) return [...known];
  const unknown = requested.find(scope => !known.includes(scope));
  if (unknown !== undefined || requested.length === 0) {
    throw new OperationRefused('key-scope-unknown', { scope: unknown ?? '', known });
  }
  return known.filter(scope => requested.includes(scope));
}

/** The role of the owner if it is a partner member; null for a merchant with room for another key. */
async function requireOwner(
  db: Connection,
  owner: KeyOwner,
  now: Date,
): Promise<PartnerRole | null> {
  if ('merchantId' in owner) {
    await requireLockedMerchant(db, owner.merchantId);
    if ((await countActiveKeys(db, owner, now)) >= ACTIVE_KEYS_MAXIMUM) {
      throw new OperationRefused('too-many-keys', { maximum: ACTIVE_KEYS_MAXIMUM });
    }
    return null;
  }
  const member = await findPartnerMember(db, owner.memberId);
  if (member === undefined) {
    throw new OperationRefused('partner-member-unknown', { memberId: owner.memberId });
  }
  return member.role;
}

async function requireUsableKey(db: Connection, keyId: string, now: Date): Promise<KeyWithRole> {
  const key = await lockApiKey(db, keyId);
  if (key === undefined) throw new OperationRefused('key-unknown', { keyId });
  if (key.revoked_at !== null) throw new OperationRefused('key-revoked', { keyId });
  if (key.expires_at !== null && key.expires_at <= now) {
    throw new OperationRefused('key-expired', { keyId });
  }
  return key;
}
