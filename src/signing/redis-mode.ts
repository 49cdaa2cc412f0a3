import type { Redis } from 'ioredis';
import { parseRedisUrl } from '#config/redis-url.ts';
import { connectToEach } from './redis-connection.ts';
import { readKind } from './redis-info.ts';

/**
 * Checks that the servers of a Redis URL match its mode.
 * @returns What is wrong, in a sentence that begins with the variable; null if nothing is, or no server responds.
 */
export async function findWrongMode(url: string): Promise<string | null> {
  const servers = parseRedisUrl(url);
  const kind = await askFirst(url, readKind);
  if (kind === null || kind === 'unknown') return null;
  if (kind !== servers.mode) return WRONG[servers.mode][kind];
  if (servers.mode !== 'sentinel') return null;
  const { name } = servers;
  // A sentinel that has lost its state may not know the name, but some other one does.
  const known = await askAll(url, redis => redis.call('SENTINEL', 'get-master-addr-by-name', name));
  return known.length > 0 && known.every(address => address === null)
    ? 'REDIS_URL has mode=sentinel with a name of which the sentinels know no master.'
    : null;
}

const ADD_CLUSTER = 'REDIS_URL leads to a server of a Redis Cluster; add ?mode=cluster to it.';
const ADD_SENTINEL =
  'REDIS_URL leads to a sentinel; add ?mode=sentinel&name= with the name by which it knows the master.';

const WRONG = {
  single: { single: null, cluster: ADD_CLUSTER, sentinel: ADD_SENTINEL },
  cluster: {
    single:
      'REDIS_URL has mode=cluster, but leads to a server that is in no cluster; remove the mode.',
    cluster: null,
    sentinel:
      'REDIS_URL has mode=cluster, but leads to a sentinel; it takes the servers of the cluster.',
  },
  sentinel: {
    single:
      'REDIS_URL has mode=sentinel, but leads to a Redis server; it takes the sentinels, on port 26379 by default.',
    cluster:
      'REDIS_URL has mode=sentinel, but leads to a server of a Redis Cluster; it takes mode=cluster.',
    sentinel: null,
  },
} as const;

type Question<T> = (redis: Redis) => Promise<T>;

async function askFirst<T>(url: string, ask: Question<T>): Promise<T | null> {
  return Promise.any(askEach(url, ask)).catch(() => null);
}

async function askAll<T>(url: string, ask: Question<T>): Promise<T[]> {
  const results = await Promise.allSettled(askEach(url, ask));
  return results.filter(result => result.status === 'fulfilled').map(({ value }) => value);
}

function askEach<T>(url: string, ask: Question<T>): Promise<T>[] {
  return connectToEach(url).map(async redis => {
    // The promise reports the failure.
    redis.on('error', () => undefined);
    try {
      return await ask(redis);
    } finally {
      redis.disconnect();
    }
  });
}
