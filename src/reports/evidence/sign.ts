import { sign } from 'node:crypto';
import type { Keyring } from '#crypto/keyring.ts';
import type { Database } from '#storage/database/connection.ts';
import type { Clock } from '#time/clock.ts';
import { canonicalJson } from './canonical.ts';
import { openSigningKey } from './keys.ts';

/** A document with its signature: Ed25519 over `evidence` in canonical JSON (RFC 8785). */
export interface Signed<T> {
  readonly evidence: T;
  /** Base64. */
  readonly signature: string;
  /** `kid` of the public key. */
  readonly keyId: string;
}

interface Dependencies {
  readonly db: Database;
  readonly keyring: Keyring;
  readonly clock: Clock;
}

/** Signs a document, which must not contain fractions, with the one signing key. */
export async function signEvidence<T>(
  { db, keyring, clock }: Dependencies,
  evidence: T,
): Promise<Signed<T>> {
  const key = await openSigningKey(db, keyring, clock);
  const signature = sign(null, Buffer.from(canonicalJson(evidence)), key.privateKey);
  return { evidence, signature: signature.toString('base64'), keyId: key.id };
}
