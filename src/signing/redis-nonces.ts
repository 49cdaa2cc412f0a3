import { Redis } from 'ioredis';
import { NONCE_LIFETIME_SECONDS, type NonceStore, NonceStoreUnavailable } from './nonce-store.ts';

/** Longest a command may take, in milliseconds, before the store counts as unavailable. */
const COMMAND_TIMEOUT_MS = 1_000;
const CONNECT_TIMEOUT_MS = 2_000;
const RECONNECT_MAXIMUM_MS = 2_000;

/**
 * Keeps nonces in Redis or Valkey, one key each that expires by itself.
 *
 * Commands fail at once while the connection is down instead of queueing: the caller decides what a
 * request without replay protection may still do.
 *
 * @param onError Told about every connection error; the client reconnects by itself.
 */
export function createRedisNonces(url: string, onError: (error: Error) => void): NonceStore {
  const redis = new Redis(url, {
    enableAutoPipelining: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: COMMAND_TIMEOUT_MS,
    connectTimeout: CONNECT_TIMEOUT_MS,
    retryStrategy: attempt => Math.min(50 * 2 ** attempt, RECONNECT_MAXIMUM_MS),
  });
  redis.on('error', onError);
  // Only the first connection is waited for: a process that has just started is not an outage.
  const attempted = new Promise<void>(resolve => {
    redis.once('ready', resolve);
    redis.once('close', resolve);
  });

  return {
    kind: 'redis',
    async claim(keyId, nonce) {
      try {
        await attempted;
        const answer = await redis.set(
          `mp:nonce:${keyId}:${nonce}`,
          '1',
          'EX',
          NONCE_LIFETIME_SECONDS,
          'NX',
        );
        return answer === 'OK';
      } catch (error) {
        throw new NonceStoreUnavailable(error);
      }
    },
    async ping() {
      try {
        await attempted;
        await redis.ping();
      } catch (error) {
        throw new NonceStoreUnavailable(error);
      }
    },
    async close() {
      redis.disconnect();
    },
  };
}
