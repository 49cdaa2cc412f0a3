import { timingSafeEqual } from 'node:crypto';
import type { Keyring } from '#crypto/keyring.ts';
import { ApiError } from '#errors/api-error.ts';
import { SigningKey } from '#signing/signing-key.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { FreshCache } from '#storage/database/fresh-cache.ts';
import type { ApiKey } from '#storage/database/key-tables.ts';
import { renewPassphraseHash } from '#storage/repositories/keys/api-keys.ts';
import {
  findKeyAtOrAfter,
  type KeyWithAccounts,
} from '#storage/repositories/keys/key-with-accounts.ts';

interface VerifiedCredentials {
  readonly record: KeyWithAccounts;
  /** Made from the secret that belongs to the passphrase that was sent. */
  readonly signingKey: SigningKey;
}

/** A pair that was verified before, with its secret decrypted. */
interface OpenedPair {
  readonly passphrase: Buffer;
  readonly signingKey: SigningKey;
  /** Milliseconds since the epoch; the end of a previous pair's grace period. */
  readonly validUntil: number;
}

/** A cached key, with those of its pairs that were used since it was read. */
export interface KnownKey {
  readonly record: KeyWithAccounts;
  readonly pairs: readonly OpenedPair[];
}

export interface CredentialDependencies {
  readonly db: Connection;
  readonly keyring: Keyring;
  readonly knownKeys: FreshCache<KnownKey>;
}

/** One of a key's pairs: the current one, or the previous one within its grace period. */
interface Pair {
  readonly passphraseHash: Buffer;
  /** Version of the master key that the passphrase was hashed under. */
  readonly hashVersion: number;
  readonly secret: Buffer | null;
  /** Version of the master key that the secret is sealed under. */
  readonly version: number;
  readonly validUntil: number;
}

const FOREVER = Number.POSITIVE_INFINITY;

/** Compared in place of a missing pair, so that every refusal takes the same time. */
const NO_PAIR: Pair = {
  passphraseHash: Buffer.alloc(32),
  hashVersion: 0,
  secret: null,
  version: 0,
  validUntil: FOREVER,
};

/**
 * Compares credentials with those that were verified before and cached, since hashing a passphrase or
 * decrypting a secret costs more than the rest of authentication.
 * @param now Milliseconds since the epoch.
 * @returns undefined for credentials that are not cached; they may still be right.
 * @throws ApiError E2006
 */
export function recallCredentials(
  { knownKeys }: Pick<CredentialDependencies, 'knownKeys'>,
  keyId: string,
  passphrase: string,
  now: number,
): VerifiedCredentials | undefined {
  const known = knownKeys.get(keyId);
  const opened = known && findOpened(known, passphrase, now);
  if (known === undefined || opened === undefined) return undefined;
  requireUnexpired(known.record.key, now);
  return { record: known.record, signingKey: opened.signingKey };
}

/**
 * Finds the key by its ID in the database and verifies the passphrase; caches right credentials. For an
 * unknown key it reads the next key instead, so that it costs the same as a wrong passphrase: a row of the
 * database and two hashes.
 *
 * @param now Milliseconds since the epoch.
 * @throws ApiError E2004, E2005 or E2006, in this order.
 */
export async function verifyCredentials(
  { db, keyring, knownKeys }: CredentialDependencies,
  keyId: string,
  passphrase: string,
  now: number,
): Promise<VerifiedCredentials> {
  const keep = knownKeys.begin();
  const record = await findKeyAtOrAfter(db, keyId);
  const pairs = pairsOf(record?.key, now);
  const pair = pairs.find(({ passphraseHash, hashVersion }) =>
    timingSafeEqual(keyring.hash(passphrase, keyId, hashVersion), passphraseHash),
  );
  if (record?.key.id !== keyId || pair === undefined) throw new ApiError('E2004');
  if (record.key.revoked_at !== null || pair.secret === null) throw new ApiError('E2005');
  requireUnexpired(record.key, now);
  const signingKey = new SigningKey(keyring.open(pair.secret, keyId, pair.version));
  if (isHashBehind(pair, keyring)) await renewHash({ db, keyring }, keyId, pair, passphrase);
  const used = { passphrase: Buffer.from(passphrase), signingKey, validUntil: pair.validUntil };
  // A key has at most two pairs: the current one and the previous one.
  const others =
    knownKeys.get(keyId)?.pairs.filter(({ validUntil }) => validUntil !== used.validUntil) ?? [];
  keep(keyId, { record, pairs: [used, ...others] }, accountsOf(record));
  return { record, signingKey };
}

/**
 * Whether `mp master-key reseal` has sealed the secret under the current master key, and the hash has yet to
 * follow. False for a previous pair, which ends before long.
 */
function isHashBehind({ version, hashVersion, validUntil }: Pair, keyring: Keyring): boolean {
  const { currentVersion } = keyring;
  return version === currentVersion && hashVersion !== currentVersion && validUntil === FOREVER;
}

/**
 * Hashes a passphrase again under the current master key, which is possible only now that it is known. If
 * that fails, the next use tries again.
 */
async function renewHash(
  { db, keyring }: Pick<CredentialDependencies, 'db' | 'keyring'>,
  keyId: string,
  { passphraseHash: former }: Pair,
  passphrase: string,
): Promise<void> {
  const hash = keyring.hash(passphrase, keyId);
  const version = keyring.currentVersion;
  await renewPassphraseHash(db, keyId, { former, hash, version }).catch(() => undefined);
}

function findOpened({ pairs }: KnownKey, passphrase: string, now: number): OpenedPair | undefined {
  const given = Buffer.from(passphrase);
  return pairs.find(
    pair =>
      pair.passphrase.length === given.length &&
      timingSafeEqual(pair.passphrase, given) &&
      now < pair.validUntil,
  );
}

/** IDs of everything that decides whether the key may be used. */
function accountsOf({ key, merchant, member }: KeyWithAccounts): string[] {
  return [key.id, merchant?.id, merchant?.partner?.id, member?.id, member?.partner.id].filter(
    id => id !== undefined,
  );
}

function requireUnexpired(key: ApiKey, now: number): void {
  if (key.expires_at !== null && key.expires_at.getTime() <= now) throw new ApiError('E2006');
}

function pairsOf(key: ApiKey | undefined, now: number): readonly [Pair, Pair] {
  if (key === undefined) return [NO_PAIR, NO_PAIR];
  const current = {
    passphraseHash: key.passphrase_hash,
    hashVersion: key.passphrase_key_version ?? key.master_key_version,
    secret: key.secret,
    version: key.master_key_version,
    validUntil: FOREVER,
  };
  const {
    previous_passphrase_hash: passphraseHash,
    previous_master_key_version: version,
    previous_valid_until: until,
  } = key;
  if (passphraseHash === null || version === null || until === null || until.getTime() <= now) {
    return [current, NO_PAIR];
  }
  const previous = {
    passphraseHash,
    hashVersion: key.previous_passphrase_key_version ?? version,
    secret: key.previous_secret,
    version,
    validUntil: until.getTime(),
  };
  return [current, previous];
}
