import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { nonceDigest } from '#signing/nonce-store.ts';
import { createRedisNonces } from '#signing/redis-nonces.ts';
import { judge, signNow } from '../helpers/nonce-claims.ts';
import { startRedisCluster } from '../helpers/redis-cluster.ts';
import { freePort, launchRedis, REDIS_MISSING, type TestRedis } from '../helpers/redis-server.ts';
import { SOON } from '../helpers/soon.ts';

const KEY = 'mpk_0123456789abcdef01234567';
const OPTIONS = { clock: Date.now, onError: () => undefined };
const missing = inject('redisServer') === null;

/** How the previous release claims a nonce, with the server's run ID in ARGV[2]. */
const CLAIM_BEFORE = `
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

describe.skipIf(missing)(missing ? REDIS_MISSING : 'replicas of two releases on one Redis', () => {
  let redis: TestRedis;
  let before: Redis;
  let run: string;
  beforeAll(async () => {
    redis = await launchRedis(await freePort());
    before = new Redis(redis.url);
    run = /run_id:(\w+)/.exec(await before.info('server'))?.[1] ?? '';
  });
  afterAll(async () => {
    before.disconnect();
    await redis.stop();
  });
  async function claimBefore(nonce: string, now = Date.now()) {
    const keys = ['mp:nonce:store', `mp:nonce:${KEY}:${nonceDigest(nonce)}`];
    const [since, claimed] = (await before.eval(CLAIM_BEFORE, 2, ...keys, 660, run, now)) as [
      string,
      number,
    ];
    return { isNew: claimed === 1, since: Number(since) };
  }
  const open = () => {
    const nonces = createRedisNonces(redis.url, OPTIONS);
    onTestFinished(() => nonces.close());
    return nonces;
  };

  test('accept a nonce once, whichever gets it first', async () => {
    const after = open();
    const claimAfter = (nonce: string) => after.claim(KEY, nonce, Date.now());
    expect((await claimBefore('first before')).isNew).toBe(true);
    expect((await claimAfter('first before')).isNew).toBe(false);
    expect((await claimAfter('first after')).isNew).toBe(true);
    expect((await claimBefore('first after')).isNew).toBe(false);
    const both = await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        const claims = await Promise.all([claimBefore(`n${index}`), claimAfter(`n${index}`)]);
        return claims.filter(({ isNew }) => isNew).length;
      }),
    );
    expect(both).toEqual(both.map(() => 1));
  });

  test('do not make each other refuse creations', async () => {
    const after = open();
    const times = async () => [
      (await claimBefore(crypto.randomUUID())).since,
      (await after.claim(KEY, crypto.randomUUID(), Date.now())).since,
    ];
    const first = await times();
    expect(await times()).toEqual(first);
    expect(await times()).toEqual(first);
  });
});

describe.skipIf(missing)(missing ? REDIS_MISSING : 'a claim whose reply is lost', () => {
  /** A proxy for a server that ends a connection instead of forwarding the reply to `lose`. */
  async function startLosingProxy(port: number) {
    let losing: 'none' | 'armed' | 'lost' = 'none';
    const server = createServer(client => {
      const upstream = connect(port, '127.0.0.1');
      let isClaim = false;
      client.on('data', chunk => {
        if (losing === 'armed' && chunk.includes('lost-key')) isClaim = true;
        upstream.write(chunk);
      });
      upstream.on('data', chunk => {
        if (!isClaim) return void client.write(chunk);
        losing = 'lost';
        client.destroy();
      });
      for (const [socket, other] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        socket.on('error', () => undefined).on('close', () => other.destroy());
      }
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    return {
      port: (server.address() as AddressInfo).port,
      lose() {
        losing = 'armed';
      },
      hasLost: () => losing === 'lost',
    };
  }

  test('is sent once to one server, and its result is unknown', async () => {
    const redis = await launchRedis(await freePort());
    onTestFinished(() => redis.stop());
    const proxy = await startLosingProxy(Number(new URL(redis.url).port));
    const nonces = createRedisNonces(`redis://127.0.0.1:${proxy.port}`, OPTIONS);
    onTestFinished(() => nonces.close());
    await vi.waitFor(async () => expect(await judge(nonces, signNow(KEY))).toBe('executed'), SOON);
    proxy.lose();
    const captured = signNow('lost-key');
    expect(await judge(nonces, captured)).toBe('unknown');
    expect(proxy.hasLost()).toBe(true);
    await vi.waitFor(async () => expect(await judge(nonces, captured)).toBe('replay'), SOON);
  });

  test('is sent once to a cluster, and its result is unknown', async () => {
    const cluster = await startRedisCluster({ masters: 1, replicas: 0 });
    onTestFinished(() => cluster.stop());
    const [node] = cluster.nodes;
    if (node === undefined) throw new Error('no server');
    const proxy = await startLosingProxy(node.port);
    // The cluster redirects its clients to the proxy.
    await node.operator.config('SET', 'cluster-announce-port', proxy.port);
    const nonces = createRedisNonces(`redis://127.0.0.1:${proxy.port}?mode=cluster`, OPTIONS);
    onTestFinished(() => nonces.close());
    await vi.waitFor(async () => expect(await judge(nonces, signNow(KEY))).toBe('executed'), SOON);
    proxy.lose();
    const captured = signNow('lost-key');
    expect(await judge(nonces, captured)).toBe('unknown');
    expect(proxy.hasLost()).toBe(true);
    await vi.waitFor(async () => expect(await judge(nonces, captured)).toBe('replay'), SOON);
  });
});
