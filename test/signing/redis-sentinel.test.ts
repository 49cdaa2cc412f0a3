import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import type { NonceStore } from '#signing/nonce-store.ts';
import { connectRedis } from '#signing/redis-connection.ts';
import { createRedisNonces } from '#signing/redis-nonces.ts';
import { type Captured, judge, signNow } from '../helpers/nonce-claims.ts';
import {
  type RedisWithSentinels,
  SENTINEL_MISSING,
  startRedisWithSentinels,
  type WatchedServer,
} from '../helpers/redis-sentinel.ts';
import { freePort, launchRedis, REDIS_MISSING } from '../helpers/redis-server.ts';
import { SOON } from '../helpers/soon.ts';

const KEY = 'mpk_0123456789abcdef01234567';
/** A failed election, as on a busy machine, is repeated after two seconds. */
const PATIENT = { timeout: 30_000, interval: 20 };
const OPTIONS = { clock: Date.now, onError: () => undefined };
const missing = inject('redisServer') === null ? REDIS_MISSING : SENTINEL_MISSING;

describe.skipIf(missing !== null)(missing ?? 'nonces in a Redis that sentinels watch', () => {
  let redis: RedisWithSentinels;
  /** The stores of two replicas of the API. */
  let stores: [NonceStore, NonceStore];
  beforeAll(async () => {
    redis = await startRedisWithSentinels({
      password: 'of-redis',
      sentinelPassword: 'of-sentinels',
    });
    stores = [createRedisNonces(redis.url, OPTIONS), createRedisNonces(redis.url, OPTIONS)];
  });
  afterAll(async () => {
    await Promise.all(stores.map(store => store.close()));
    await redis.stop();
  });

  const judgeOn = (replica: 0 | 1, captured: Captured) => judge(stores[replica], captured);
  /** Waits until creations succeed on both. */
  const isBack = () =>
    vi.waitFor(async () => {
      expect(await judgeOn(0, signNow(KEY))).toBe('executed');
      expect(await judgeOn(1, signNow(KEY))).toBe('executed');
    }, PATIENT);
  /** Ten executed creations: a sentinel that learns late of a failover still interrupts some others. */
  async function captureTen(): Promise<Captured[]> {
    const captured: Captured[] = [];
    await vi.waitFor(async () => {
      while (captured.length < 10) {
        const each = signNow(KEY);
        expect(await judgeOn(0, each)).toBe('executed');
        captured.push(each);
      }
    }, PATIENT);
    return captured;
  }
  async function expectNoReplay(captured: readonly Captured[]): Promise<void> {
    for (const each of captured) {
      expect(await judgeOn(0, each)).not.toBe('executed');
      expect(await judgeOn(1, each)).not.toBe('executed');
    }
  }

  test('are new once, over all replicas', async () => {
    await isBack();
    await expectNoReplay(await captureTen());
  });

  test('that the next master had not received when this one was killed are not accepted again', async () => {
    const master = await redis.master();
    const [next] = redis.servers.filter(({ port }) => port !== master.port);
    await next?.operator.config('SET', 'masterauth', 'wrong');
    await master.operator.call('CLIENT', 'KILL', 'TYPE', 'replica');
    await isBack();
    const captured = await captureTen();
    await master.server.stop();
    expect(await judgeOn(0, signNow(KEY))).toBe('unknown');
    await next?.operator.config('SET', 'masterauth', 'of-redis');
    await isBack();
    await expectNoReplay(captured);
    expect((await redis.master()).port).toBe(next?.port);
    await redis.restart(master);
  });

  test('are not claimed on a master without a replica, which may no longer be the master', async () => {
    await vi.waitUntil(() => redis.isWhole(), PATIENT);
    const master = await redis.master();
    const replicas = redis.servers.filter(({ port }) => port !== master.port);
    for (const { server } of replicas) process.kill(server.pid, 'SIGSTOP');
    onTestFinished(() => {
      for (const { server } of replicas) process.kill(server.pid, 'SIGCONT');
    });
    await master.operator.call('CLIENT', 'KILL', 'TYPE', 'replica');
    expect(await judgeOn(0, signNow(KEY))).toBe('unknown');
    expect(await stores[1].probe()).toEqual([
      expect.objectContaining({ failure: expect.any(Error) }),
    ]);
    for (const { server } of replicas) process.kill(server.pid, 'SIGCONT');
    await isBack();
  });

  test('of a master that hangs are left to the one that takes over, even when it continues', async () => {
    await vi.waitUntil(() => redis.isWhole(), PATIENT);
    const master = await redis.master();
    await isBack();
    const captured = await captureTen();
    process.kill(master.server.pid, 'SIGSTOP');
    const goOn = () => process.kill(master.server.pid, 'SIGCONT');
    onTestFinished(() => void goOn());
    await vi.waitUntil(async () => (await redis.master()).port !== master.port, PATIENT);
    await isBack();
    await expectNoReplay(captured);
    const meanwhile = await captureTen();
    goOn();
    await expectNoReplay([...captured, ...meanwhile]);
  });
});

describe.skipIf(missing !== null)(missing ?? 'a master that sentinels have never replaced', () => {
  test('is found when it comes back, even if a failover is announced during the search', async () => {
    const servers = await startRedisWithSentinels({ sentinelCount: 1, downAfterMs: 60_000 });
    onTestFinished(() => servers.stop());
    const { redis, close } = connectRedis(servers.url);
    onTestFinished(close);
    redis.on('error', () => undefined);
    await vi.waitUntil(() => redis.status === 'ready', SOON);
    const master = await servers.master();
    await master.server.stop();
    let gaveUp = false;
    redis.once('end', () => {
      gaveUp = true;
    });
    // Like FailoverDetector.
    const { connector } = redis as unknown as { connector: { disconnect(): void } };
    while (!gaveUp) {
      if (redis.status === 'connecting') connector.disconnect();
      await sleep(1);
    }
    await servers.restart(master);
    await vi.waitUntil(() => redis.status === 'ready', SOON);
  });

  test('whose replicas had followed another one accepts none twice', async () => {
    const redis = await startRedisWithSentinels({ sentinelCount: 1, downAfterMs: 60_000 });
    onTestFinished(() => redis.stop());
    const [master, other, third] = redis.servers as [WatchedServer, WatchedServer, WatchedServer];
    const watched = createRedisNonces(redis.url, OPTIONS);
    const elsewhere = createRedisNonces(`redis://127.0.0.1:${other.port}`, OPTIONS);
    onTestFinished(async () => {
      await Promise.all([watched.close(), elsewhere.close()]);
    });
    const executed = (nonces: NonceStore) =>
      vi.waitFor(async () => {
        const captured = signNow(KEY);
        expect(await judge(nonces, captured)).toBe('executed');
        return captured;
      }, SOON);
    await executed(watched);
    // Processes that do not know the sentinels yet do not disturb the others.
    const direct = createRedisNonces(`redis://127.0.0.1:${master.port}`, OPTIONS);
    onTestFinished(() => direct.close());
    const times = async () =>
      Promise.all([watched, direct].map(each => each.claim(KEY, crypto.randomUUID(), 0))).then(
        claims => claims.map(({ since }) => since),
      );
    const first = await times();
    expect(await times()).toEqual(first);
    const once = await executed(direct);
    expect(await judge(watched, once)).toBe('replay');
    await other.operator.replicaof('NO', 'ONE');
    await third.operator.replicaof('127.0.0.1', other.port);
    await vi.waitFor(async () => expect(await judge(watched, signNow(KEY))).toBe('unknown'), SOON);
    const captured = await executed(elsewhere);
    await third.operator.replicaof('127.0.0.1', master.port);
    await other.operator.replicaof('127.0.0.1', master.port);
    await vi.waitFor(async () => expect(await judge(watched, captured)).toBe('too old'), SOON);
    expect(await judge(watched, captured)).toBe('replay');
    await executed(watched);
  });
});

describe.skipIf(missing === REDIS_MISSING)(
  missing === REDIS_MISSING ? REDIS_MISSING : 'a server that is master again',
  () => {
    test('after another has lost nonces keeps its run, and accepts none twice', async () => {
      const ports = [await freePort(), await freePort()] as const;
      const directory = await mkdtemp(join(tmpdir(), 'eps-redis-'));
      const settings = ['--dir', directory, '--repl-diskless-sync-delay', '0'];
      const servers = await Promise.all(
        ports.map(port => launchRedis(port, [...settings, '--dbfilename', `${port}.rdb`])),
      );
      const [first, second] = ports.map(port => new Redis(port)) as [Redis, Redis];
      const nonces = createRedisNonces(`redis://127.0.0.1:${ports[0]}`, OPTIONS);
      onTestFinished(async () => {
        for (const each of [first, second]) each.disconnect();
        await nonces.close();
        await Promise.all(servers.map(server => server.stop()));
        await rm(directory, { recursive: true });
      });
      const follows = (replica: Redis, port: number) =>
        vi.waitFor(async () => {
          await replica.replicaof('127.0.0.1', port);
          expect(await replica.info('replication')).toContain('master_link_status:up');
        }, SOON);
      const runOf = async () => /run_id:\w+/.exec(await first.info('server'))?.[0];
      const run = await runOf();
      await follows(second, ports[0]);
      await vi.waitFor(
        async () => expect(await judge(nonces, signNow(KEY))).toBe('executed'),
        SOON,
      );
      await second.wait(1, 1000).catch(() => undefined);
      // The second one takes over without the last nonce, serves nobody, and is replaced by the first one.
      await second.replicaof('NO', 'ONE');
      const captured = signNow(KEY);
      expect(await judge(nonces, captured)).toBe('executed');
      await follows(first, ports[1]);
      await second.replicaof('127.0.0.1', ports[0]);
      await first.replicaof('NO', 'ONE');
      expect(await runOf()).toBe(run);
      await vi.waitFor(async () => expect(await judge(nonces, captured)).toBe('too old'), SOON);
      expect(await judge(nonces, captured)).toBe('replay');
    });
  },
);
