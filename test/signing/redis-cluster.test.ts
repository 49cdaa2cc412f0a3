import {
  afterAll,
  afterEach,
  beforeAll,
  describe,
  expect,
  inject,
  onTestFinished,
  test,
  vi,
} from 'vitest';
import { openNonces } from '#runtime/dependencies.ts';
import { NONCE_BUCKETS, type NonceBucket } from '#signing/nonce-buckets.ts';
import type { NonceStore } from '#signing/nonce-store.ts';
import { createRedisNonces } from '#signing/redis-nonces.ts';
import { createMonitor } from '#telemetry/monitor.ts';
import { createReadiness } from '#telemetry/readiness.ts';
import { cloneDatabase, type TestDatabase } from '../helpers/database.ts';
import { NO_CHANGE_FEED } from '../helpers/inert.ts';
import { type Captured, judge, signNow } from '../helpers/nonce-claims.ts';
import {
  type ClusterNode,
  keyIdsOfBuckets,
  type RedisCluster,
  startRedisCluster,
} from '../helpers/redis-cluster.ts';
import { REDIS_MISSING } from '../helpers/redis-server.ts';
import { SOON } from '../helpers/soon.ts';
import { parseExposition, sumOf } from '../telemetry/exposition.ts';

const PASSWORD = 'only-for-nonces';
/** cluster-node-timeout, in milliseconds: no server is replaced because the machine stalls for a while. */
const PATIENT_MS = 5_000;
const KEYS = keyIdsOfBuckets();
const missing = inject('redisServer') === null;

describe.skipIf(missing)(missing ? REDIS_MISSING : 'nonces in a Redis Cluster', () => {
  let cluster: RedisCluster;
  /** The stores of two replicas of the API. */
  let stores: [NonceStore, NonceStore];
  beforeAll(async () => {
    cluster = await startRedisCluster({ password: PASSWORD, nodeTimeoutMs: PATIENT_MS });
    const options = { clock: Date.now, onError: () => undefined };
    stores = [createRedisNonces(cluster.url, options), createRedisNonces(cluster.url, options)];
  });
  afterAll(async () => {
    await Promise.all(stores.map(store => store.close()));
    await cluster.stop();
  });

  const [keyOfFirst = ''] = KEYS;
  const [firstBucket] = NONCE_BUCKETS as readonly [NonceBucket];
  const judgeOn = (replica: 0 | 1, captured: Captured) => judge(stores[replica], captured);
  const sinceOf = async (keyId: string) =>
    (await stores[0].claim(keyId, crypto.randomUUID(), Date.now())).since;
  const settled = () =>
    vi.waitFor(async () => {
      for (const keyId of KEYS) {
        expect(await judgeOn(0, signNow(keyId))).not.toBe('unknown');
        expect(await judgeOn(1, signNow(keyId))).not.toBe('unknown');
      }
    }, SOON);
  /** Waits for a second, after which newly signed requests are not too old: timestamps have whole seconds. */
  const nextSecond = async () => {
    await settled();
    const ready = Math.max(...(await Promise.all(KEYS.map(sinceOf))));
    await vi.waitUntil(() => Math.floor(Date.now() / 1000) * 1000 >= ready, SOON);
  };

  test('are claimed at once, on connections that are not open yet', async () => {
    const opened = createRedisNonces(cluster.url, { clock: Date.now, onError: () => undefined });
    const claims = await Promise.all(KEYS.map(key => opened.claim(key, crypto.randomUUID(), 0)));
    expect(claims.map(({ isNew }) => isNew)).toEqual(KEYS.map(() => true));
    await opened.close();
  });

  test('are in buckets on all masters, in the slots that the code names', async () => {
    const masters = await Promise.all(NONCE_BUCKETS.map(bucket => cluster.masterOf(bucket)));
    expect(new Set(masters).size).toBe(3);
    for (const [index, { tag, slot }] of NONCE_BUCKETS.entries()) {
      await sinceOf(KEYS[index] ?? '');
      const key = `mp:nonce:{${tag}}:store`;
      expect(await masters[index]?.operator.cluster('KEYSLOT', key)).toBe(slot);
      expect(await masters[index]?.operator.exists(key)).toBe(1);
    }
  });

  test('are new once per key, over all replicas', async () => {
    await nextSecond();
    const captured = KEYS.map(signNow);
    const claims = captured.flatMap(each => [judgeOn(0, each), judgeOn(1, each), judgeOn(0, each)]);
    const results = await Promise.all(claims);
    expect(results.filter(result => result === 'executed')).toHaveLength(KEYS.length);
    expect(results.filter(result => result === 'replay')).toHaveLength(2 * KEYS.length);
    for (const each of captured) expect(await judgeOn(1, each)).toBe('replay');
  });

  test('are not claimed if INFO is forbidden, which reveals losses', async () => {
    for (const { operator } of cluster.nodes) {
      await operator.call('ACL', 'SETUSER', 'limited', 'on', '>pass', '~*', '+@all', '-info');
    }
    const url = cluster.url.replace(`:${PASSWORD}@`, 'limited:pass@');
    const limited = createRedisNonces(url, { clock: Date.now, onError: () => undefined });
    onTestFinished(() => limited.close());
    for (const captured of KEYS.map(signNow))
      expect(await judge(limited, captured)).toBe('unknown');
    const [server] = await limited.probe();
    expect(String(server?.failure?.cause)).toMatch(/can't run this command|no permissions/);
  });

  test('are claimed by a server that has forgotten the script', async () => {
    for (const { operator } of cluster.nodes) await operator.script('FLUSH');
    const captured = KEYS.map(signNow);
    for (const each of captured) expect(await judgeOn(0, each)).toBe('executed');
    for (const each of captured) expect(await judgeOn(0, each)).toBe('replay');
  });

  test('move with their bucket, and only that bucket starts a new period', async () => {
    await nextSecond();
    const before = await Promise.all(KEYS.map(sinceOf));
    const captured = Array.from({ length: 20 }, () => signNow(keyOfFirst));
    for (const each of captured) expect(await judgeOn(0, each)).toBe('executed');
    const target = await cluster.masterOf(NONCE_BUCKETS[3] as NonceBucket);
    const meanwhile: Captured[] = [];
    await cluster.move(firstBucket, target, async () => {
      // Some keys are on either server: both know every known nonce, and no new one is accepted.
      const results = await Promise.all(captured.map(each => judgeOn(1, each)));
      expect(results).not.toContain('executed');
      meanwhile.push(signNow(keyOfFirst));
      expect(await judge(stores[0], meanwhile[0] as Captured)).not.toBe('executed');
      expect(await judgeOn(0, signNow(KEYS[1] ?? ''))).toBe('executed');
    });
    await settled();
    for (const each of [...captured, ...meanwhile]) {
      expect(await judgeOn(0, each)).not.toBe('executed');
      expect(await judgeOn(1, each)).not.toBe('executed');
    }
    const after = await Promise.all(KEYS.map(sinceOf));
    expect(after[0]).toBeGreaterThan(before[0] ?? 0);
    expect(after.slice(1)).toEqual(before.slice(1));
    expect((await cluster.masterOf(firstBucket)).id).toBe(target.id);
  });

  /** Makes the cluster replace a lost or hanging server soon, until the end of the test. */
  async function replaceSoon(): Promise<void> {
    onTestFinished(() => cluster.setNodeTimeout(PATIENT_MS));
    await cluster.setNodeTimeout(400);
  }

  /** Cuts the replica of a master off from its writes. */
  async function cutOff(master: ClusterNode): Promise<ClusterNode> {
    const [replica] = (await cluster.replicasOf(master)) as [ClusterNode];
    await replica.operator.config('SET', 'masterauth', 'wrong');
    await master.operator.call('CLIENT', 'KILL', 'TYPE', 'replica');
    return replica;
  }

  test('that a replica had not received when its master was killed are not accepted again', async () => {
    await nextSecond();
    const master = await cluster.masterOf(firstBucket);
    const lost = await cutOff(master);
    const captured = KEYS.map(signNow);
    for (const each of captured) expect(await judgeOn(0, each)).toBe('executed');
    await master.server.stop();
    // Creations with other keys work, on all replicas of the API.
    const others = await keysNotOn(master);
    for (const keyId of others) expect(await judgeOn(1, signNow(keyId))).toBe('executed');
    await replaceSoon();
    await settled();
    expect((await cluster.masterOf(firstBucket)).id).toBe(lost.id);
    for (const each of captured) {
      expect(await judgeOn(0, each)).not.toBe('executed');
      expect(await judgeOn(1, each)).not.toBe('executed');
    }
    await nextSecond();
    for (const keyId of KEYS) expect(await judgeOn(1, signNow(keyId))).toBe('executed');
    await lost.operator.config('SET', 'masterauth', PASSWORD);
    await cluster.restart(master);
  });

  async function keysNotOn(master: ClusterNode): Promise<string[]> {
    const masters = await Promise.all(NONCE_BUCKETS.map(bucket => cluster.masterOf(bucket)));
    return KEYS.filter((_, index) => masters[index]?.id !== master.id);
  }

  test('are kept over a failover that an operator requests', async () => {
    const master = await cluster.masterOf(firstBucket);
    const [replica] = await vi.waitFor(async () => {
      const found = (await cluster.replicasOf(master)) as [ClusterNode];
      const state = await found[0].operator.info('replication');
      expect(state).toContain('master_link_status:up');
      return found;
    }, SOON);
    await nextSecond();
    const captured = Array.from({ length: 10 }, () => signNow(keyOfFirst));
    for (const each of captured) expect(await judgeOn(0, each)).toBe('executed');
    // A server aborts a failover that takes longer than five seconds.
    await vi.waitUntil(
      async () => {
        if ((await cluster.masterOf(firstBucket)).id === replica.id) return true;
        await replica.operator.cluster('FAILOVER').catch(() => undefined);
        return false;
      },
      { timeout: 20_000, interval: 1_000 },
    );
    await settled();
    for (const each of captured) expect(await judgeOn(1, each)).toBe('replay');
  });

  test('of a server that hangs are left to the one that takes over', async () => {
    await nextSecond();
    const master = await cluster.masterOf(firstBucket);
    const captured = signNow(keyOfFirst);
    expect(await judgeOn(0, captured)).toBe('executed');
    await replaceSoon();
    process.kill(master.server.pid, 'SIGSTOP');
    onTestFinished(() => void process.kill(master.server.pid, 'SIGCONT'));
    expect(await judgeOn(0, signNow(keyOfFirst))).toBe('unknown');
    await settled();
    expect(await judgeOn(0, captured)).not.toBe('executed');
    expect(await judgeOn(1, captured)).not.toBe('executed');
  });

  describe('on masters that are probed one by one', () => {
    let database: TestDatabase;
    beforeAll(async () => {
      database = await cloneDatabase();
    });
    afterAll(() => database.drop());
    const evicting = async (node: ClusterNode, policy: string) => {
      await node.operator.config('SET', 'maxmemory', '100mb');
      await node.operator.config('SET', 'maxmemory-policy', policy);
    };
    let changed: ClusterNode | undefined;
    afterEach(async () => {
      if (changed !== undefined) await evicting(changed, 'noeviction');
    });
    const logger = { warn: vi.fn(), error: vi.fn() };
    const open = () =>
      openNonces({ redisUrl: cluster.url }, database.db, { clock: Date.now, logger });

    test('and none of which may evict', async () => {
      await (await open()).close();
      changed = await cluster.masterOf(NONCE_BUCKETS[5] as NonceBucket);
      await evicting(changed, 'allkeys-lru');
      await expect(open()).rejects.toThrow(
        new RegExp(`^REDIS_URL leads to the server 127.0.0.1:${changed.port}.* allkeys-lru`),
      );
    });

    test('by /readyz and metrics', async () => {
      const [nonces] = stores;
      const master = await cluster.masterOf(NONCE_BUCKETS[5] as NonceBucket);
      const server = `127.0.0.1:${master.port}`;
      const observe = async () => {
        const monitor = createMonitor({
          readiness: createReadiness({ db: database.db, nonces }),
          pools: {},
          api: { nonces, changes: NO_CHANGE_FEED },
        });
        const metrics = parseExposition(await monitor.registry.metrics());
        const { ready, body } = await monitor.readiness();
        await monitor.close();
        const up = sumOf(metrics, 'eps_nonce_store_up', { kind: 'redis' });
        const mayEvict = sumOf(metrics, 'eps_nonce_store_may_evict', { kind: 'redis' });
        const ofServer = sumOf(metrics, 'eps_nonce_store_up', { kind: 'redis', server });
        return { ready, state: body.nonces, up, mayEvict, ofServer };
      };
      const well = { ready: true, state: 'ok', up: 3, mayEvict: 0, ofServer: 1 };
      expect(await observe()).toEqual(well);
      changed = master;
      await evicting(master, 'volatile-ttl');
      const unsafe = { ready: false, state: 'may evict nonces', mayEvict: 1 };
      expect(await observe()).toEqual({ ...well, ...unsafe });
      await evicting(master, 'noeviction');
      changed = undefined;
      await master.server.stop();
      // All replicas of the API see the same: each serves what it can.
      const partly = { ready: true, state: 'partly unavailable', up: 2, ofServer: 0 };
      expect(await observe()).toEqual({ ...well, ...partly });
    });
  });
});
