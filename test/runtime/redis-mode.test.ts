import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { openNonces } from '#runtime/dependencies.ts';
import { cloneDatabase, type TestDatabase } from '../helpers/database.ts';
import { type RedisCluster, startRedisCluster } from '../helpers/redis-cluster.ts';
import {
  type RedisWithSentinels,
  SENTINEL_MISSING,
  startRedisWithSentinels,
} from '../helpers/redis-sentinel.ts';
import {
  freePort,
  type LaunchedRedis,
  launchRedis,
  REDIS_MISSING,
} from '../helpers/redis-server.ts';

const KEY = 'mpk_0123456789abcdef01234567';
const missing = inject('redisServer') === null ? REDIS_MISSING : SENTINEL_MISSING;

describe.skipIf(missing !== null)(missing ?? 'a Redis that is not what its URL says', () => {
  let database: TestDatabase;
  let single: LaunchedRedis;
  let cluster: RedisCluster;
  let watched: RedisWithSentinels;
  beforeAll(async () => {
    [database, single, cluster, watched] = await Promise.all([
      cloneDatabase(),
      launchRedis(await freePort(), ['--requirepass', 'hunter2']),
      startRedisCluster({ masters: 1, replicas: 0, password: 'hunter2' }),
      startRedisWithSentinels({
        password: 'hunter2',
        sentinelPassword: 'hunter2',
        // No failover: nothing fails here, but on a busy machine a master may respond late.
        downAfterMs: 60_000,
      }),
    ]);
  });
  afterAll(async () => {
    await Promise.all([database.drop(), single.stop(), cluster.stop(), watched.stop()]);
  });

  const logger = { warn: vi.fn(), error: vi.fn() };
  const open = (redisUrl: string) =>
    openNonces({ redisUrl }, database.db, { clock: Date.now, logger, waitMs: 5_000 });
  const portOf = {
    single: () => new URL(single.url).port,
    cluster: () => String(cluster.nodes[0]?.port),
    sentinel: () => String(watched.sentinels[0]?.port),
  };

  test.each([
    ['single', 'cluster', '', 'add ?mode=cluster'],
    ['single', 'sentinel', '', 'add ?mode=sentinel&name='],
    ['cluster', 'single', '?mode=cluster', 'in no cluster; remove the mode'],
    ['cluster', 'sentinel', '?mode=cluster', 'leads to a sentinel'],
    ['sentinel', 'single', '?mode=sentinel&name=mymaster', 'leads to a Redis server'],
    ['sentinel', 'cluster', '?mode=sentinel&name=mymaster', 'takes mode=cluster'],
    ['sentinel', 'sentinel', '?mode=sentinel&name=other', 'know no master'],
  ] as const)('%s, but is %s: %s', async (_mode, is, query, sentence) => {
    const more = query.startsWith('?mode=sentinel') ? '&sentinel_password=hunter2' : '';
    const opening = open(`redis://:hunter2@127.0.0.1:${portOf[is]()}${query}${more}`);
    const error = await opening.then(
      () => undefined,
      (reason: Error) => reason,
    );
    expect(error?.message).toMatch(/^REDIS_URL [^\n]+\.$/);
    expect(error?.message).toContain(sentence);
    expect(error?.message).not.toContain('hunter2');
  });

  test('is accepted if it is', async () => {
    for (const url of [cluster.url, watched.url, single.url.replace('//', '//:hunter2@')]) {
      const nonces = await open(url);
      expect((await nonces.claim(KEY, 'n', Date.now())).isNew).toBe(true);
      await nonces.close();
    }
  });
});
