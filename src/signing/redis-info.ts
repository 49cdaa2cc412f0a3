import type { Redis } from 'ioredis';

/**
 * How long the master may not have heard from a replica, in seconds; replicas report every second. Shorter
 * than down-after-milliseconds should be, after which the replica may follow another master. One digit.
 */
export const REPLICA_LAG_SECONDS = 3;

/** Managed servers may forbid commands to some users, but hardly ever INFO. */
const FORBIDDEN = /NOPERM/;

/**
 * The policy by which a server may evict keys, for example `allkeys-lru`. null when it never does: without a
 * memory limit, or with `noeviction`, where writes fail instead.
 * @param memory The section of INFO; empty where it is forbidden.
 */
export function evictionPolicyOf(memory: string): string | null {
  const fields = parseInfo(memory);
  const policy = fields.get('maxmemory_policy') ?? 'noeviction';
  const isLimited = Number(fields.get('maxmemory') ?? 0) > 0;
  return isLimited && policy !== 'noeviction' ? policy : null;
}

/** The mode that a server runs in; unknown where INFO is forbidden. */
export async function readKind(
  redis: Redis,
): Promise<'single' | 'cluster' | 'sentinel' | 'unknown'> {
  const text = await redis.info().catch((error: Error) => {
    if (FORBIDDEN.test(error.message)) return '';
    throw error;
  });
  const fields = parseInfo(text);
  if (fields.has('sentinel_masters')) return 'sentinel';
  const isCluster = fields.get('cluster_enabled');
  if (isCluster === undefined) return 'unknown';
  return isCluster === '1' ? 'cluster' : 'single';
}

function parseInfo(text: string): ReadonlyMap<string, string> {
  const lines = text.split('\r\n').map(line => line.split(':', 2));
  return new Map(lines.map(([name = '', value = '']) => [name, value]));
}
