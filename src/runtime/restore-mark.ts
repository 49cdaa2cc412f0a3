import { UUID } from '#schemas/uuid.ts';
import type { RedisConnection } from '#signing/redis-connection.ts';
import type { NewestIds } from '#storage/repositories/restores.ts';

const PREFIX = 'mp:newest:';
/** Suffix of the key that holds the ID of the next lineage. */
const NEXT = ':next';

/**
 * Sets the mark only if it is still the expected one: a slow process must not overwrite what another one has
 * set since.
 */
const ADVANCE = `
  if (redis.call('GET', KEYS[1]) or '') == ARGV[1] then redis.call('SET', KEYS[1], ARGV[2]) end`;

/** Stores, outside of the database, the newest IDs that each of its lineages has had. */
export interface NewestMark {
  /** @returns Empty text if there is none. */
  read(lineage: string): Promise<string>;
  /** Sets the mark, if it still is `from`. */
  advance(lineage: string, from: string, to: string): Promise<void>;
  /** @returns The lineage that a confirmed restore began after this one; undefined if none is known. */
  nextOf(lineage: string): Promise<string | undefined>;
  /** Records that a lineage has begun after `former`. */
  begin(lineage: string, former: string): Promise<void>;
  close(): void;
}

/** Keeps the mark in Redis or Valkey: one key for each lineage, which does not expire. */
function createNewestMark({ redis, close }: RedisConnection): NewestMark {
  function requireReady(): void {
    // A cluster's client would queue commands for as long as no server responds.
    if (redis.status !== 'ready') throw new Error('Redis cannot be reached');
  }
  return {
    async read(lineage) {
      requireReady();
      return (await redis.get(PREFIX + lineage)) ?? '';
    },
    async advance(lineage, from, to) {
      requireReady();
      await redis.eval(ADVANCE, 1, PREFIX + lineage, from, to);
    },
    async nextOf(lineage) {
      requireReady();
      return (await redis.get(PREFIX + lineage + NEXT)) ?? undefined;
    },
    async begin(lineage, former) {
      requireReady();
      await redis.set(PREFIX + former + NEXT, lineage);
    },
    close,
  };
}

/** Opens a connection of its own, and waits for the first attempt. Commands fail at once while it is down. */
export async function openNewestMark(url: string): Promise<NewestMark> {
  // Loaded on demand: commands of mp, which start often, do not need it.
  const { connectRedis } = await import('#signing/redis-connection.ts');
  const connection = connectRedis(url);
  const { redis } = connection;
  // Ignored here, since the commands fail as well.
  redis.on('error', () => undefined);
  await new Promise<void>(resolve => {
    for (const event of ['ready', 'close', 'error']) redis.once(event, resolve);
  });
  return createNewestMark(connection);
}

/** @throws Error for text that `formatMark` has not written. */
export function parseMark(text: string): NewestIds | null {
  if (text === '') return null;
  const [payment = '', transition = '', auditEntry = '', ...rest] = text.split(' ').map(toId);
  if (rest.length > 0 || [payment, transition, auditEntry].includes('')) {
    throw new Error(`"${text.slice(0, 100)}" is no mark`);
  }
  return { payment, transition, auditEntry };
}

const NONE = '-';

/** @returns Empty text if it is not an ID. */
function toId(text: string): string | null {
  if (text === NONE) return null;
  return UUID.test(text) ? text : '';
}

export function formatMark({ payment, transition, auditEntry }: NewestIds): string {
  return [payment, transition, auditEntry].map(id => id ?? NONE).join(' ');
}
