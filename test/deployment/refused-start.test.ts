import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createKeyring } from '../../src/crypto/keyring.ts';
import { checkMasterKeys } from '../../src/keys/master-keys.ts';
import { cloneDatabase, type TestDatabase } from '../helpers/database.ts';
import { freePort, launchRedis, REDIS_MISSING } from '../helpers/redis-server.ts';
import { failToStart, serviceEnvironment } from './service-process.ts';

/** What API and worker refuse to start with. They end with status 1 and say why in their last line. */

let database: TestDatabase;
beforeAll(async () => {
  database = await cloneDatabase();
  await checkMasterKeys(database.db, createKeyring([randomBytes(32)]), new Date());
});
afterAll(() => database.drop());

describe.each(['src/server.ts', 'src/worker.ts'] as const)('%s', script => {
  test('without a database', async () => {
    const url = `postgres://eps:hunter2@127.0.0.1:${await freePort()}/eps`;
    const env = serviceEnvironment(url, randomBytes(32));
    expect(await failToStart(env, script)).toMatchObject({
      status: 1,
      last: { level: 'fatal', err: { message: expect.stringContaining('ECONNREFUSED') } },
    });
  });

  test('on a database that is not migrated', async () => {
    const env = serviceEnvironment(inject('databaseServer'), randomBytes(32));
    const failure = await failToStart({ ...env, SIMULATION: 'on' }, script);
    expect(failure).toMatchObject({
      status: 1,
      last: {
        level: 'fatal',
        err: { message: expect.stringContaining('run "npx --no mp migrate"') },
      },
    });
    expect(JSON.stringify(failure.last).match(/0001_networks/g)).toHaveLength(1);
    // And one that simulates says so all the same.
    expect(failure.messages).toContainEqual(expect.stringMatching(/^SIMULATION is on/));
  });

  test('with another master key than that of the database', async () => {
    const env = serviceEnvironment(database.url, randomBytes(32));
    expect(await failToStart(env, script)).toMatchObject({
      status: 1,
      last: { level: 'fatal', err: { message: expect.stringContaining('MASTER_KEY') } },
    });
  });
});

test.skipIf(inject('redisServer') === null)(
  inject('redisServer') === null ? REDIS_MISSING : 'the API, on a Redis that may evict nonces',
  async () => {
    const evicting = ['--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru'];
    const redis = await launchRedis(await freePort(), evicting);
    const fresh = await cloneDatabase();
    const env = serviceEnvironment(fresh.url, randomBytes(32), { REDIS_URL: redis.url });
    expect(await failToStart(env)).toMatchObject({
      status: 1,
      last: {
        level: 'fatal',
        err: { message: expect.stringMatching(/^REDIS_URL .* allkeys-lru/) },
      },
    });
    await redis.stop();
    await fresh.drop();
  },
);
