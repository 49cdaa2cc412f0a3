import { UUID } from '#schemas/uuid.ts';
import type { RedisConnection } from '#signing/redis-connection.ts';
import type { NewestIds } from '#storage/repositories/lineages.ts';

const PREFIX = 'mp:newest:';
/** Follows the lineage; the key has the ID of the one after it. */
const NEXT = ':next';

/** Never backwards: a process that was late sets nothing in place of what another one has set since. */
const ADVANCE = `
  if (redis.call('GET', KEYS[1]) or '') == ARGV[1] then redis.call('SET', KEYS[1], ARGV[2]) end`;

/** What is known outside the database of the newest that a lineage of it has had. */
export interface NewestMark {
  /** @returns Empty text where there is none. */
  read(lineage: string): Promise<string>;
  /** Sets the mark, unless it is not `from` any more. */
  advance(lineage: string, from: string, to: string): Promise<void>;
  /** @returns The lineage that began after it, of a restore that was confirmed; undefined where none is known. */
  nextOf(lineage: string): Promise<string | undefined>;
  /** Notes that a lineage has begun. */
  begin(lineage: string, former: string): Promise<void>;
  close(): void;
}

/** Keeps the mark in Redis or Valkey: one key for each lineage, which does not expire. */
function createNewestMark({ redis, close }: RedisConnection): NewestMark {
  function requireReady(): void {
    // A cluster's queue would hold commands for as long as no server responds.
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
  // Commands of mp, which start often, have no need of it.
  const { connectRedis } = await import('#signing/redis-connection.ts');
  const connection = connectRedis(url);
  const { redis } = connection;
  // The commands fail as well.
  redis.on('error', () => undefined);
  await new Promise<void>(resolve => {
    for (const event of ['ready', 'close', 'error']) redis.once(event, resolve);
  });
  return createNewestMark(connection);
}

/** @throws Error for what `formatMark` has not written. */
export function parseMark(text: string): NewestIds | null {
  if (text === '') return null;
  const [payment = '', transition = '', auditEntry = '', ...rest] = text.split(' ').map(toId);
  if (rest.length > 0 || [payment, transition, auditEntry].includes('')) {
    throw new Error(`"${text.slice(0, 100)}" is no mark`);
  }
  return { payment, transition, auditEntry };
}

const NONE = '-';

/** @returns Empty text for what is no ID. */
function toId(text: string): string | null {
  if (text === NONE) return null;
  return UUID.test(text) ? text : '';
}

export function formatMark({ payment, transition, auditEntry }: NewestIds): string {
  return [payment, transition, auditEntry].map(id => id ?? NONE).join(' ');
}
