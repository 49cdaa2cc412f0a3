import type { Cluster, Redis } from 'ioredis';
import { parseRedisUrl } from '#config/redis-url.ts';
import { batch } from '#storage/database/batch.ts';
import type { Clock } from '#time/clock.ts';
import { bucketOf, NONCE_BUCKETS } from './nonce-buckets.ts';
import {
  NONCE_LIFETIME_SECONDS,
  type NonceClaim,
  type NonceServer,
  type NonceStore,
  NonceStoreUnavailable,
  nonceDigest,
} from './nonce-store.ts';
import { connectRedis } from './redis-connection.ts';
import { evictionPolicyOf, REPLICA_LAG_SECONDS } from './redis-info.ts';

/**
 * Prefix of the keys on a single server, also behind Sentinel. Releases without buckets use the same keys, so
 * that they and this one can run side by side.
 */
const PREFIX = 'mp:nonce:';

/**
 * Claims each of the nonces in KEYS[2] and following for ARGV[1] seconds. Returns the time since which every
 * nonce has been kept, then 1 for each new nonce and 0 for each used one. KEYS[1] is a hash with that time,
 * and the replication history in which the nonces are kept. A server begins another history when it starts
 * and when it takes over from another one, at which point it may lack the nonces claimed last; it never
 * returns to an old history. So the time becomes now (ARGV[2]) if the history has changed or the hash is
 * gone. The run ID would not do: a server keeps it while another one takes over and it loses what it had.
 *
 * ARGV[3] is the mode of the URL. Nobody replaces a single server, so it is accepted even if INFO is
 * forbidden. A cluster stops a master that was replaced. With sentinels, a master that comes back while
 * another one is promoted, or that hung, still believes that it is the master, and is promoted again without
 * noticing. So it has to have a replica: if there are two masters, the other one has taken it away. A replica
 * that has left and comes back has to synchronise, so the number of synchronisations is part of the history.
 * Processes that reach one server by different modes have separate histories of the same nonces.
 */
const CLAIM = `
  local info = redis.pcall('INFO', 'replication')
  if type(info) ~= 'string' then
    if ARGV[3] ~= 'single' then return info end
    info = ''
  end
  if string.find(info, 'role:slave', 1, true) then
    return redis.error_reply('READONLY this server is a replica')
  end
  local history = string.match(info, 'master_replid:(%x+)') or ''
  if ARGV[3] == 'sentinel' then
    if not string.find(info, 'state=online,offset=%d+,lag=[0-${REPLICA_LAG_SECONDS}]%D') then
      return redis.error_reply('NOREPLICAS no replica follows this server')
    end
    local stats = redis.call('INFO', 'stats')
    for _, count in ipairs({ 'sync_full:%d+', 'sync_partial_ok:%d+' }) do
      history = history .. ' ' .. string.match(stats, count)
    end
  end
  local store = redis.call('HMGET', KEYS[1], 'history:' .. ARGV[3], 'kept:' .. ARGV[3])
  local since = store[2]
  if not since or store[1] ~= history then
    since = ARGV[2]
    redis.call('HSET', KEYS[1], 'history:' .. ARGV[3], history, 'kept:' .. ARGV[3], since)
  end
  local claimed = { since }
  for index = 2, #KEYS do
    claimed[index] = redis.call('SET', KEYS[index], '1', 'EX', ARGV[1], 'NX') and 1 or 0
  end
  return claimed`;

/** The memory section of INFO from the server that keeps KEYS[1]; empty where it is forbidden. */
const MEMORY = `
  local info = redis.pcall('INFO', 'memory')
  return type(info) == 'string' and info or ''`;

interface Scripts {
  claimNonces(
    keys: number,
    ...parameters: (string | number)[]
  ): Promise<[since: string, ...claimed: number[]]>;
  readMemory(keys: number, key: string): Promise<string>;
}

interface RedisNoncesOptions {
  readonly clock: Clock;
  /** Called for every connection error; the client reconnects by itself. */
  readonly onError: (error: Error) => void;
}

/**
 * Keeps nonces in Redis or Valkey, one key each that expires by itself.
 *
 * While a connection is down, commands fail at once instead of queueing: the caller decides what a request
 * may still do without replay protection. They also fail if a reply is lost, after which it is unknown
 * whether the nonce was claimed: a repeated claim would find the first one, and look like a replay.
 * @param url In the form that parseRedisUrl accepts.
 */
export function createRedisNonces(url: string, { clock, onError }: RedisNoncesOptions): NonceStore {
  const { redis, close } = connectRedis(url);
  const { mode } = parseRedisUrl(url);
  redis.on('error', onError);
  redis.on(isCluster(redis) ? 'node error' : 'sentinelError', onError);
  // Commands wait for the first connection only: a process that has just started is not an outage.
  const attempted = new Promise<void>(resolve => {
    for (const event of ['ready', 'close', 'error']) redis.once(event, resolve);
  });

  redis.defineCommand('claimNonces', { lua: CLAIM });
  redis.defineCommand('readMemory', { lua: MEMORY });
  const scripts = redis as unknown as Scripts;
  async function claimAll(store: string, keys: readonly string[]): Promise<NonceClaim[]> {
    try {
      await attempted;
      // A cluster's client would queue commands for as long as no server responds; a single server's queue
      // has a time limit.
      if (isCluster(redis) && redis.status !== 'ready') throw new Error('no server of the cluster');
      const all = [store, ...keys];
      const parameters = [NONCE_LIFETIME_SECONDS, clock(), mode];
      const [since, ...claimed] = await scripts.claimNonces(all.length, ...all, ...parameters);
      return claimed.map(one => ({ isNew: one === 1, since: Number(since) }));
    } catch (error) {
      throw new NonceStoreUnavailable(error);
    }
  }

  /**
   * Keys that one script can reach. `server` returns the name of the server that keeps them, null for a single one.
   */
  function openBucket(prefix: string, server: () => string | null) {
    const store = `${prefix}store`;
    return {
      prefix,
      store,
      server,
      claim: batch((keys: readonly string[]) => claimAll(store, keys)),
    };
  }
  const whole = openBucket(PREFIX, () => null);
  const parts = isCluster(redis)
    ? NONCE_BUCKETS.map(({ tag, slot }) =>
        openBucket(`${PREFIX}{${tag}}:`, () => redis.slots[slot]?.[0] ?? 'unassigned'),
      )
    : [];

  async function probe({ store, server }: typeof whole): Promise<NonceServer> {
    try {
      // Claims nothing, but notes a restart before the next request does.
      await claimAll(store, []);
      const evictionPolicy = evictionPolicyOf(await scripts.readMemory(1, store));
      return { name: server(), failure: null, evictionPolicy };
    } catch (error) {
      return { name: server(), failure: error as Error, evictionPolicy: null };
    }
  }

  return {
    kind: 'redis',
    claim(keyId, nonce) {
      const { prefix, claim } = (parts.length > 0 && parts[bucketOf(keyId)]) || whole;
      return claim(`${prefix}${keyId}:${nonceDigest(nonce)}`);
    },
    async probe() {
      const found = new Map<string | null, NonceServer>();
      for (const state of await Promise.all((isCluster(redis) ? parts : [whole]).map(probe))) {
        const { failure, evictionPolicy } = found.get(state.name) ?? state;
        found.set(state.name, {
          name: state.name,
          failure: failure ?? state.failure,
          evictionPolicy: evictionPolicy ?? state.evictionPolicy,
        });
      }
      return [...found.values()];
    },
    async close() {
      close();
    },
  };
}

function isCluster(redis: Redis | Cluster): redis is Cluster {
  return redis.isCluster;
}
