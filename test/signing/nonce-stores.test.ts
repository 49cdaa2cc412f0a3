import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import {
  NONCE_LIFETIME_SECONDS,
  type NonceStore,
  NonceStoreUnavailable,
  nonceDigest,
} from '#signing/nonce-store.ts';
import { createPostgresNonces } from '#signing/postgres-nonces.ts';
import { createRedisNonces } from '#signing/redis-nonces.ts';
import { cloneDatabase, type TestDatabase } from '../helpers/database.ts';
import { freePort, launchRedis, REDIS_MISSING } from '../helpers/redis-server.ts';

const KEY = 'mpk_0123456789abcdef01234567';
const OTHER_KEY = 'mpk_76543210fedcba9876543210';
const NOW = Date.UTC(2026, 4, 17, 12);
const OPTIONS = { clock: () => NOW, onError: () => undefined };
const redisUrl = inject('redisServer');

async function isNew(store: NonceStore, keyId: string, nonce: string, now: number) {
  return (await store.claim(keyId, nonce, now)).isNew;
}

interface Server {
  open(): NonceStore;
  /** Expires a nonce without waiting for it. */
  expire(nonce: string): Promise<number>;
  stop(): Promise<void>;
}

async function startPostgres(): Promise<Server> {
  const database: TestDatabase = await cloneDatabase();
  return {
    open: () => createPostgresNonces(database.db),
    expire: async () => NOW + NONCE_LIFETIME_SECONDS * 1000,
    stop: () => database.drop(),
  };
}

async function startRedis(): Promise<Server> {
  const redis = new Redis(redisUrl ?? '');
  return {
    open: () => createRedisNonces(redisUrl ?? '', OPTIONS),
    async expire(nonce) {
      const key = `mp:nonce:${KEY}:${nonceDigest(nonce)}`;
      const left = await redis.ttl(key);
      expect(left).toBeGreaterThan(NONCE_LIFETIME_SECONDS - 30);
      expect(left).toBeLessThanOrEqual(NONCE_LIFETIME_SECONDS);
      await redis.pexpire(key, 0);
      return NOW;
    },
    stop: async () => redis.disconnect(),
  };
}

describe.each([
  ['PostgreSQL', startPostgres],
  ['Redis', startRedis],
] as const)('nonces in %s', (name, start) => {
  const missing = name === 'Redis' && redisUrl === null;
  describe.skipIf(missing)(missing ? REDIS_MISSING : 'on a real server', () => {
    let server: Server;
    let store: NonceStore;
    let replica: NonceStore;
    beforeAll(async () => {
      server = await start();
      store = server.open();
      replica = server.open();
    });
    afterAll(async () => {
      await Promise.all([store.close(), replica.close()]);
      await server.stop();
    });
    const fresh = () => crypto.randomUUID();

    test('are claimed at once, on a connection that is not open yet', async () => {
      const opened = server.open();
      expect(await isNew(opened, KEY, fresh(), NOW)).toBe(true);
      await opened.close();
    });

    test('are new once per key, over all replicas', async () => {
      const nonce = fresh();
      expect(await isNew(store, KEY, nonce, NOW)).toBe(true);
      expect(await isNew(store, KEY, nonce, NOW)).toBe(false);
      expect(await isNew(replica, KEY, nonce, NOW)).toBe(false);
      expect(await isNew(replica, OTHER_KEY, nonce, NOW)).toBe(true);
      expect(await isNew(store, OTHER_KEY, nonce, NOW)).toBe(false);
      expect(await isNew(store, KEY, nonce.toUpperCase(), NOW)).toBe(true);
    });

    test('may be any visible characters', async () => {
      for (const nonce of [
        '~',
        "'; drop table nonces; --",
        '%s*?[a]\\',
        `${fresh()}${'n'.repeat(219)}`,
      ]) {
        const unique = nonce.length < 255 ? `${nonce}${fresh()}` : nonce;
        expect(await isNew(store, KEY, unique, NOW)).toBe(true);
        expect(await isNew(store, KEY, unique, NOW)).toBe(false);
      }
    });

    test('exactly one of many concurrent claims succeeds', async () => {
      const nonce = fresh();
      const claims = Array.from({ length: 100 }, (_, index) =>
        isNew(index % 2 === 0 ? store : replica, KEY, nonce, NOW),
      );
      expect((await Promise.all(claims)).filter(Boolean)).toHaveLength(1);
    });

    test('are remembered for at least 600 seconds, and then free again', async () => {
      const nonce = fresh();
      expect(NONCE_LIFETIME_SECONDS).toBeGreaterThanOrEqual(600);
      expect(await isNew(store, KEY, nonce, NOW)).toBe(true);
      const last = NOW + NONCE_LIFETIME_SECONDS * 1000 - 1;
      expect(await isNew(store, KEY, nonce, last)).toBe(false);
      const later = await server.expire(nonce);
      expect(await isNew(store, KEY, nonce, later)).toBe(true);
      expect(await isNew(store, KEY, nonce, later)).toBe(false);
    });

    test('respond to a probe', async () => {
      expect(await store.probe()).toEqual([{ name: null, failure: null, evictionPolicy: null }]);
      expect(store.kind).toBe(name === 'Redis' ? 'redis' : 'postgres');
    });
  });
});

describe('an unavailable store', () => {
  const expectUnavailable = async (store: NonceStore) => {
    await expect(store.claim(KEY, 'n', NOW)).rejects.toThrow(NonceStoreUnavailable);
    expect(await store.probe()).toEqual([
      { name: null, failure: expect.any(NonceStoreUnavailable), evictionPolicy: null },
    ]);
  };

  test('says so when PostgreSQL is unavailable', async () => {
    const database = await cloneDatabase();
    const store = createPostgresNonces(database.db);
    await database.drop();
    await expectUnavailable(store);
  });

  test('says so when Redis is unavailable, and keeps trying', async () => {
    const errors: Error[] = [];
    const url = `redis://127.0.0.1:${await freePort()}`;
    const store = createRedisNonces(url, { ...OPTIONS, onError: error => void errors.push(error) });
    await expectUnavailable(store);
    expect(errors.length).toBeGreaterThan(0);
    await store.close();
  });

  test.skipIf(redisUrl === null)(
    redisUrl === null ? REDIS_MISSING : 'says so when Redis hangs, and goes on when it does',
    async () => {
      const server = await launchRedis(await freePort());
      const store = createRedisNonces(server.url, OPTIONS);
      const operator = new Redis(server.url);
      expect(await isNew(store, KEY, 'before', NOW)).toBe(true);
      await operator.client('PAUSE', 60_000, 'WRITE');
      await expect(store.claim(KEY, 'during', NOW)).rejects.toThrow(NonceStoreUnavailable);
      await operator.client('UNPAUSE');
      expect(await isNew(store, KEY, 'after', NOW)).toBe(true);
      operator.disconnect();
      await store.close();
      await server.stop();
    },
  );
});
