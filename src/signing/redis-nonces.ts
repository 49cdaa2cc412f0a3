import { Redis } from 'ioredis';
import { batch } from '../database/batch.ts';
import type { Clock } from '../time/clock.ts';
import {
  NONCE_LIFETIME_SECONDS,
  type NonceClaim,
  type NonceStore,
  NonceStoreUnavailable,
  nonceDigest,
} from './nonce-store.ts';
import { readEvictionPolicy, readRunId } from './redis-info.ts';

/** Longest a command may take, in milliseconds, before the store counts as unavailable. */
const COMMAND_TIMEOUT_MS = 1_000;
const CONNECT_TIMEOUT_MS = 2_000;
const RECONNECT_MAXIMUM_MS = 2_000;

const PREFIX = 'mp:nonce:';
/** Hash with the time since which the store has kept every nonce, and the server's run that kept them. */
const STORE = `${PREFIX}store`;

/**
 * Claims each of the nonces in KEYS[2] and following for ARGV[1] seconds; returns 1 for a new one, 0 for
 * a used one, after the time since which the store has kept every nonce. That is now (ARGV[3]) for a
 * server that is empty, or that runs under another ID (ARGV[2]) than the one before: a server that was
 * restarted, or took over from another, may lack the last nonces that were claimed.
 */
const CLAIM = `
  local store = redis.call('HMGET', KEYS[1], 'run', 'since')
  local since = store[2]
  if not since or store[1] ~= ARGV[2] then
    since = ARGV[3]
    redis.call('HSET', KEYS[1], 'run', ARGV[2], 'since', since)
  end
  local claimed = { since }
  for index = 2, #KEYS do
    claimed[index] = redis.call('SET', KEYS[index], '1', 'EX', ARGV[1], 'NX') and 1 or 0
  end
  return claimed`;

interface RedisWithClaims extends Redis {
  claimNonces(
    keys: number,
    ...parameters: (string | number)[]
  ): Promise<[since: string, ...claimed: number[]]>;
}

interface RedisNoncesOptions {
  readonly clock: Clock;
  /** Called for every connection error; the client reconnects by itself. */
  readonly onError: (error: Error) => void;
}

/**
 * Keeps nonces in Redis or Valkey, one key each that expires by itself.
 *
 * While the connection is down, commands fail at once instead of queueing: the caller decides what a
 * request may still do without replay protection.
 */
export function createRedisNonces(url: string, { clock, onError }: RedisNoncesOptions): NonceStore {
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

  // A server that was restarted has ended every connection, so its ID is read once for each.
  let runId: Promise<string> | undefined;
  redis.on('ready', () => {
    runId = undefined;
  });
  function identify(): Promise<string> {
    runId ??= readRunId(redis).catch(error => {
      runId = undefined;
      throw error;
    });
    return runId;
  }

  redis.defineCommand('claimNonces', { lua: CLAIM });
  const claimNonces = (redis as RedisWithClaims).claimNonces.bind(redis);
  async function claimAll(keys: readonly string[]): Promise<NonceClaim[]> {
    try {
      await attempted;
      const parameters = [NONCE_LIFETIME_SECONDS, await identify(), clock()];
      const all = [STORE, ...keys];
      const [since, ...claimed] = await claimNonces(all.length, ...all, ...parameters);
      return claimed.map(one => ({ isNew: one === 1, since: Number(since) }));
    } catch (error) {
      throw new NonceStoreUnavailable(error);
    }
  }
  const claim = batch(claimAll);

  return {
    kind: 'redis',
    claim: (keyId, nonce) => claim(`${PREFIX}${keyId}:${nonceDigest(nonce)}`),
    async probe() {
      // Like a claim, so that a restart is noted before the next request.
      await claimAll([]);
      try {
        return { evictionPolicy: await readEvictionPolicy(redis) };
      } catch (error) {
        throw new NonceStoreUnavailable(error);
      }
    },
    async close() {
      redis.disconnect();
    },
  };
}
