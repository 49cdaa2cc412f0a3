import type { Redis } from 'ioredis';

/** Managed servers may forbid commands to some users, but hardly INFO. */
const FORBIDDEN = /NOPERM/;

/**
 * The ID of the server's run, which changes with every start and differs between a server and its
 * replicas; empty where the server does not tell.
 */
export async function readRunId(redis: Redis): Promise<string> {
  return (await readInfo(redis, 'server')).get('run_id') ?? '';
}

/**
 * The policy by which the server may evict keys, for example `allkeys-lru`. null when it never does:
 * without a limit of its memory, or with `noeviction`, where writes fail instead.
 */
export async function readEvictionPolicy(redis: Redis): Promise<string | null> {
  const memory = await readInfo(redis, 'memory');
  const policy = memory.get('maxmemory_policy') ?? 'noeviction';
  const isLimited = Number(memory.get('maxmemory') ?? 0) > 0;
  return isLimited && policy !== 'noeviction' ? policy : null;
}

/** The fields of a section of INFO; none where it is forbidden. */
async function readInfo(redis: Redis, section: string): Promise<ReadonlyMap<string, string>> {
  const text = await redis.info(section).catch((error: Error) => {
    if (FORBIDDEN.test(error.message)) return '';
    throw error;
  });
  const lines = text.split('\r\n').map(line => line.split(':', 2));
  return new Map(lines.map(([name = '', value = '']) => [name, value]));
}
