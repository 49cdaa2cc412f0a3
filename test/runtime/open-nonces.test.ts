import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { readConfig } from '#config/config.ts';
import { openDependencies, openNonces } from '#runtime/dependencies.ts';
import { openStorage } from '#runtime/storage.ts';
import { createMonitor } from '#telemetry/monitor.ts';
import { createReadiness } from '#telemetry/readiness.ts';
import { cloneDatabase, type TestDatabase } from '../helpers/database.ts';
import { NO_CHANGE_FEED } from '../helpers/inert.ts';
import { freePort, launchRedis, REDIS_MISSING, type TestRedis } from '../helpers/redis-server.ts';
import { startTcpProxy } from '../helpers/tcp-proxy.ts';
import { parseExposition, sumOf } from '../telemetry/exposition.ts';

const KEY = 'mpk_0123456789abcdef01234567';
const missing = inject('redisServer') === null;

describe.skipIf(missing)(missing ? REDIS_MISSING : 'a Redis for nonces', () => {
  let database: TestDatabase;
  let redis: TestRedis;
  let operator: Redis;
  beforeAll(async () => {
    database = await cloneDatabase();
    redis = await launchRedis(await freePort());
    operator = new Redis(redis.url);
  });
  afterAll(async () => {
    operator.disconnect();
    await redis.stop();
    await database.drop();
  });

  const logger = { warn: vi.fn(), error: vi.fn() };
  const open = (redisUrl = redis.url, waitMs = 10_000) =>
    openNonces({ redisUrl }, database.db, { clock: Date.now, logger, waitMs });
  async function limit(maxmemory: string, policy: string): Promise<void> {
    await operator.config('SET', 'maxmemory', maxmemory);
    await operator.config('SET', 'maxmemory-policy', policy);
  }

  test.each([
    ['100mb', 'allkeys-lru'],
    ['100mb', 'volatile-ttl'],
  ])(
    'that may evict them is refused, with the setting named: maxmemory %s, %s',
    async (maxmemory, policy) => {
      await limit(maxmemory, policy);
      await expect(open()).rejects.toThrow(
        new RegExp(`^REDIS_URL leads to .*maxmemory-policy ${policy}`),
      );
    },
  );

  test.each([
    ['0', 'allkeys-lru'],
    ['100mb', 'noeviction'],
  ])('that keeps them is accepted: maxmemory %s, %s', async (maxmemory, policy) => {
    await limit(maxmemory, policy);
    await (await open()).close();
  });

  test('is monitored after that, by /readyz and a metric', async () => {
    await limit('100mb', 'noeviction');
    const nonces = await open();
    const { db } = database;
    const observe = async () => {
      const monitor = createMonitor({
        readiness: createReadiness({ db, nonces }),
        pools: {},
        api: { nonces, changes: NO_CHANGE_FEED },
      });
      const metrics = parseExposition(await monitor.registry.metrics());
      const { ready, body } = await monitor.readiness();
      await monitor.close();
      return {
        ready,
        nonces: body.nonces,
        up: sumOf(metrics, 'eps_nonce_store_up', { kind: 'redis' }),
        mayEvict: sumOf(metrics, 'eps_nonce_store_may_evict', { kind: 'redis' }),
      };
    };
    const well = { ready: true, nonces: 'ok', up: 1, mayEvict: 0 };
    expect(await observe()).toEqual(well);
    await limit('100mb', 'allkeys-lfu');
    expect(await observe()).toEqual({
      ready: false,
      nonces: 'may evict nonces',
      up: 1,
      mayEvict: 1,
    });
    await limit('100mb', 'noeviction');
    expect(await observe()).toEqual(well);
    await nonces.close();
  });

  test('that forbids INFO is accepted unchecked', async () => {
    await operator.call('ACL', 'SETUSER', 'limited', 'on', '>pass', '~*', '+@all', '-info');
    const url = new URL(redis.url);
    [url.username, url.password] = ['limited', 'pass'];
    const nonces = await open(url.href);
    expect((await nonces.claim(KEY, 'n', Date.now())).isNew).toBe(true);
    expect((await nonces.claim(KEY, 'n', Date.now())).isNew).toBe(false);
    await nonces.close();
  });

  test('is waited for at the start, however slow that is', async () => {
    const { hostname, port } = new URL(redis.url);
    const proxy = await startTcpProxy(hostname, Number(port));
    await proxy.cut();
    logger.warn.mockClear();
    const opening = open(`redis://127.0.0.1:${proxy.port}`);
    // Several attempts to connect fail.
    await vi.waitUntil(() => logger.warn.mock.calls.length > 2, { timeout: 10_000 });
    await proxy.open();
    const nonces = await opening;
    expect((await nonces.claim(KEY, 'first', Date.now())).isNew).toBe(true);
    await nonces.close();
    await proxy.cut();
  });

  test('is not waited for again if the start has waited for its mark', async () => {
    const config = readConfig({
      DATABASE_URL: database.url,
      MASTER_KEY: randomBytes(32).toString('base64'),
      REDIS_URL: `redis://127.0.0.1:${await freePort()}`,
    });
    const silent = pino({ level: 'silent' });
    const storage = await openStorage(config, { holder: 'command', name: 'test', logger: silent });
    const restores = { ...storage.restores, isMarkUnreadable: () => true };
    const startedAt = performance.now();
    const deps = await openDependencies(config, { ...storage, restores }, silent);
    // Otherwise it takes ten seconds.
    expect(performance.now() - startedAt).toBeLessThan(8_000);
    await deps.close();
    await storage.close();
  });

  test('is not waited for forever', async () => {
    const nonces = await open(`redis://127.0.0.1:${await freePort()}`, 200);
    expect(logger.error).toHaveBeenCalledWith(
      expect.anything(),
      expect.stringContaining('without the nonce store'),
    );
    const { ready, body } = await createReadiness({ db: database.db, nonces })();
    expect({ ready, nonces: body.nonces }).toEqual({ ready: false, nonces: 'unavailable' });
    await nonces.close();
  });
});
