import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import type { Keyring } from '#crypto/keyring.ts';
import { randomHex } from '#crypto/random-hex.ts';
import type { Connection, Database } from '#storage/database/connection.ts';
import { transact } from '#storage/database/transaction.ts';
import {
  insertEvidenceKey,
  listEvidenceKeys,
  lockEvidenceKeys,
} from '#storage/repositories/deposits/evidence.ts';
import type { Clock } from '#time/clock.ts';

const KEY_ID_PREFIX = 'mpe_';
const KEY_ID_BYTES = 8;

/** A public key as a JSON Web Key (RFC 8037). */
export interface PublicJwk {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  readonly kid: string;
  readonly use: 'sig';
  readonly alg: 'EdDSA';
}

export interface SigningKey {
  readonly id: string;
  readonly privateKey: KeyObject;
}

/** The signing key. The first use creates it; concurrent first uses create one. */
export function openSigningKey(db: Database, keyring: Keyring, clock: Clock): Promise<SigningKey> {
  return transact(db, async tx => {
    await lockEvidenceKeys(tx);
    const [known] = await listEvidenceKeys(tx);
    if (known === undefined) return makeKey(tx, keyring, new Date(clock()));
    const { id, private_key: sealed, master_key_version: version } = known;
    return { id, privateKey: createPrivateKey(keyring.open(sealed, id, version)) };
  });
}

async function makeKey(tx: Connection, keyring: Keyring, now: Date): Promise<SigningKey> {
  const id = randomHex(KEY_ID_PREFIX, KEY_ID_BYTES);
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  await insertEvidenceKey(tx, {
    id,
    public_key: Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url'),
    private_key: keyring.seal(pem, id),
    master_key_version: keyring.currentVersion,
    created_at: now,
  });
  return { id, privateKey };
}

/** Every public key, the newest first, as a JSON Web Key Set. */
export async function readPublicKeys(db: Connection): Promise<{ readonly keys: PublicJwk[] }> {
  const rows = await listEvidenceKeys(db);
  return {
    keys: rows.map(({ id, public_key }) => ({
      kty: 'OKP',
      crv: 'Ed25519',
      use: 'sig',
      alg: 'EdDSA',
      x: public_key.toString('base64url'),
      kid: id,
    })),
  };
}

/** @throws TypeError for anything but an Ed25519 key. */
export function toPublicKey({ kty, crv, x }: PublicJwk): KeyObject {
  return createPublicKey({ key: { kty, crv, x }, format: 'jwk' });
}
