import type { Database } from '../database/connection.ts';
import { ping } from '../database/ping.ts';
import { insertNonce } from '../repositories/nonces.ts';
import { NONCE_LIFETIME_SECONDS, type NonceStore, NonceStoreUnavailable } from './nonce-store.ts';

/** Keeps nonces in PostgreSQL, for installations without Redis. */
export function createPostgresNonces(db: Database): NonceStore {
  return {
    kind: 'postgres',
    async claim(keyId, nonce, now) {
      try {
        const expiresAt = new Date(now + NONCE_LIFETIME_SECONDS * 1000);
        return await insertNonce(db, { keyId, nonce, expiresAt, now: new Date(now) });
      } catch (error) {
        throw new NonceStoreUnavailable(error);
      }
    },
    async ping() {
      try {
        await ping(db);
      } catch (error) {
        throw new NonceStoreUnavailable(error);
      }
    },
    async close() {},
  };
}
