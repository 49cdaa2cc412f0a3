import { batch } from '#storage/database/batch.ts';
import type { Database } from '#storage/database/connection.ts';
import { DatabaseTooSlow } from '#storage/database/errors.ts';
import { ping } from '#storage/database/ping.ts';
import { NONCE_TIMEOUT_MS } from '#storage/database/time-limits.ts';
import { insertNonces, type UsedNonce } from '#storage/repositories/keys/nonces.ts';
import { within } from '#time/within.ts';
import {
  NONCE_LIFETIME_SECONDS,
  type NonceClaim,
  type NonceStore,
  NonceStoreUnavailable,
  nonceDigest,
} from './nonce-store.ts';

interface Claim extends UsedNonce {
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Keeps nonces in PostgreSQL, for installations without Redis. After a crash it has the nonce of every request that
 * took effect: the commit of a creation also makes durable the nonces that were committed before it.
 * @param keptSince Since when every nonce has been kept, in milliseconds since the epoch: those from before a
 * restore of the database may be lost.
 * @param timeoutMs Longest that a claim takes.
 */
export function createPostgresNonces(
  db: Database,
  keptSince: () => number = () => Number.NEGATIVE_INFINITY,
  timeoutMs: number = NONCE_TIMEOUT_MS,
): NonceStore {
  async function claimAll(claims: readonly Claim[]): Promise<NonceClaim[]> {
    const now = Math.max(...claims.map(each => each.now));
    const expiresAt = new Date(now + NONCE_LIFETIME_SECONDS * 1000);
    try {
      const inserted = insertNonces(db, claims, { expiresAt, now: new Date(now) });
      const names = (await within(timeoutMs, inserted, () => new DatabaseTooSlow())).map(nameOf);
      const fresh = new Set(names);
      // Of two requests with the same nonce in one batch the first one gets it.
      return claims.map(each => ({
        isNew: fresh.delete(nameOf(each)),
        since: keptSince(),
      }));
    } catch (error) {
      throw new NonceStoreUnavailable(error);
    }
  }
  const claim = batch(claimAll);
  return {
    kind: 'postgres',
    claim: (keyId, nonce, now) => claim({ keyId, nonce: nonceDigest(nonce), now }),
    async probe() {
      const failure = await ping(db).then(
        () => null,
        error => new NonceStoreUnavailable(error),
      );
      return [{ name: null, failure, evictionPolicy: null }];
    },
    async close() {},
  };
}

/** A unique text, since neither part contains a space. */
function nameOf({ keyId, nonce }: UsedNonce): string {
  return `${keyId} ${nonce}`;
}
