import { timingSafeEqual } from 'node:crypto';
import type { Keyring } from '../crypto/keyring.ts';
import type { Connection } from '../database/connection.ts';
import type { ApiKey } from '../database/tables.ts';
import { ApiError } from '../errors/api-error.ts';
import { findKeyWithAccounts, type KeyWithAccounts } from '../repositories/api-keys.ts';

export interface VerifiedCredentials {
  readonly record: KeyWithAccounts;
  /** The secret that belongs to the passphrase that was sent. */
  readonly secret: string;
}

/** One of a key's pairs: the current one, or the previous one within its grace period. */
interface Pair {
  readonly passphraseHash: Buffer;
  readonly secret: Buffer | null;
  readonly version: number;
}

/** Stands in where a key or a pair does not exist, so that a refusal costs the same work. */
const NO_PAIR: Pair = { passphraseHash: Buffer.alloc(32), secret: null, version: 0 };

/**
 * Finds the key and the pair that a key ID and a passphrase name.
 * @param now Milliseconds since the epoch.
 * @throws ApiError E2004, E2005 or E2006, in this order.
 */
export async function verifyCredentials(
  db: Connection,
  keyring: Keyring,
  keyId: string,
  passphrase: string,
  now: number,
): Promise<VerifiedCredentials> {
  const record = await findKeyWithAccounts(db, keyId);
  const pairs = pairsOf(record?.key, now);
  const pair = pairs.find(({ passphraseHash, version }) =>
    timingSafeEqual(keyring.hash(passphrase, keyId, version), passphraseHash),
  );
  if (record === undefined || pair === undefined) throw new ApiError('E2004');
  const { key } = record;
  if (key.revoked_at !== null || pair.secret === null) throw new ApiError('E2005');
  if (key.expires_at !== null && key.expires_at.getTime() <= now) throw new ApiError('E2006');
  return { record, secret: keyring.open(pair.secret, keyId, pair.version) };
}

function pairsOf(key: ApiKey | undefined, now: number): readonly [Pair, Pair] {
  if (key === undefined) return [NO_PAIR, NO_PAIR];
  const current = {
    passphraseHash: key.passphrase_hash,
    secret: key.secret,
    version: key.master_key_version,
  };
  const {
    previous_passphrase_hash: passphraseHash,
    previous_master_key_version: version,
    previous_valid_until: until,
  } = key;
  if (passphraseHash === null || version === null || until === null || until.getTime() <= now) {
    return [current, NO_PAIR];
  }
  return [current, { passphraseHash, secret: key.previous_secret, version }];
}
