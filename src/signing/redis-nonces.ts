import { Redis } from 'ioredis';
import { batch } from '../database/batch.ts';
import {
  NONCE_LIFETIME_SECONDS,
  type NonceStore,
  NonceStoreUnavailable,
  nonceDigest,
} from './nonce-store.ts';

/** Longest a command may take, in milliseconds, before the store counts as unavailable. */
const COMMAND_TIMEOUT_MS = 1_000;
const CONNECT_TIMEOUT_MS = 2_000;
const RECONNECT_MAXIMUM_MS = 2_000;

/** Claims each of the nonces in KEYS for ARGV[1] seconds; returns 1 for a new one, 0 for a used one. */
const CLAIM = `
  local claimed = {}
  for index, key in ipairs(KEYS) do
    claimed[index] = redis.call('SET', key, '1', 'EX', ARGV[1], 'NX') and 1 or 0
  end
  return claimed`;

interface RedisWithClaims extends Redis {
  claimNonces(keys: number, ...parameters: (string | number)[]): Promise<number[]>;
}

/**
 * Keeps nonces in Redis or Valkey, one key each that expires by itself.
 *
 * While the connection is down, commands fail at once instead of queueing: the caller decides what a
 * request may still do without replay protection.
 *
 * @param onError Called for every connection error; the client reconnects by itself.
 */
export function createRedisNonces(url: string, onError: (error: Error) => void): NonceStore {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: COMMAND_TIMEOUT_MS,
    connectTimeout: CONNECT_TIMEOUT_MS,
    retryStrategy: attempt => Math.min(50 * 2 ** attempt, RECONNECT_MAXIMUM_MS),
  });
  redis.on('error', onError);
  // Commands wait for the first connection only: a process that has just started is not an outage.
  const attempted = new Promise<void>(resolve => {
    redis.once('ready', resolve);
    redis.once('close', resolve);
  });

  redis.defineCommand('claimNonces', { lua: CLAIM });
  const claimNonces = (redis as RedisWithClaims).claimNonces.bind(redis);
  const claim = batch(async (keys: readonly string[]) => {
    await attempted;
    return claimNonces(keys.length, ...keys, NONCE_LIFETIME_SECONDS);
  });

  return {
    kind: 'redis',
    async claim(keyId, nonce) {
      try {
        return (await claim(`mp:nonce:${keyId}:${nonceDigest(nonce)}`)) === 1;
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
