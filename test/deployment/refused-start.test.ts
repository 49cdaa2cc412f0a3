import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { checkMasterKeys } from '#accounts/keys/master-keys.ts';
import { createKeyring } from '#crypto/keyring.ts';
import { cloneDatabase, type TestDatabase } from '../helpers/database.ts';
import { freePort, launchRedis, REDIS_MISSING } from '../helpers/redis-server.ts';
import { failToStart, serviceEnvironment } from './service-process.ts';

/** What API and worker refuse to start with. They end with status 1 and give the reason in one sentence. */

let database: TestDatabase;
beforeAll(async () => {
  database = await cloneDatabase();
  await checkMasterKeys(database.db, createKeyring([randomBytes(32)]), new Date());
});
afterAll(() => database.drop());

/** The same sentence for a person and in the log, without its place in the code. */
function expectSentence(failure: Awaited<ReturnType<typeof failToStart>>, sentence: string): void {
  const { status, last, told } = failure;
  expect({ status, told }).toEqual({ status: 1, told: `${sentence}\n` });
  expect(last).toMatchObject({ level: 'fatal', msg: sentence });
  expect(last).not.toHaveProperty('err');
}

describe.each(['src/server.ts', 'src/worker.ts'] as const)('%s', script => {
  test('without a database', async () => {
    const port = await freePort();
    const url = `postgres://eps:hunter2@127.0.0.1:${port}/eps`;
    const env = serviceEnvironment(url, randomBytes(32));
    expectSentence(
      await failToStart(env, script),
      `The database cannot be reached: connect ECONNREFUSED 127.0.0.1:${port}. Check DATABASE_URL and the server.`,
    );
  });

  test('on a database that is not migrated', async () => {
    const env = serviceEnvironment(inject('databaseServer'), randomBytes(32));
    const failure = await failToStart({ ...env, SIMULATION: 'on' }, script);
    expect(failure).toMatchObject({
      status: 1,
      last: { level: 'fatal', msg: expect.stringContaining('run "npx --no mp migrate"') },
    });
    expect(JSON.stringify(failure.last).match(/0001_networks/g)).toHaveLength(1);
    // A process that simulates still says so.
    expect(failure.messages).toContainEqual(expect.stringMatching(/^SIMULATION is on/));
  });
});

describe('the worker, which starts like the API', () => {
  const start = (env: Record<string, string>) => failToStart(env, 'src/worker.ts');
  const refused = (changes: Partial<URL>) =>
    start(serviceEnvironment(Object.assign(new URL(database.url), changes).href, randomBytes(32)));

  test('with another master key than that of the database', async () => {
    const { last } = await start(serviceEnvironment(database.url, randomBytes(32)));
    expect(last).toMatchObject({ level: 'fatal', msg: expect.stringContaining('MASTER_KEY') });
  });

  test('with a URL that the server refuses', async () => {
    const user = new URL(database.url).username;
    const [password, name] = await Promise.all([
      refused({ password: 'hunter2' }),
      refused({ pathname: '/no_such' }),
    ]);
    expectSentence(
      password,
      `The database refuses what DATABASE_URL names: password authentication failed for user "${user}" (SQLSTATE 28P01).`,
    );
    expectSentence(
      name,
      'The database refuses what DATABASE_URL names: database "no_such" does not exist (SQLSTATE 3D000).',
    );
  });

  test('with an invalid configuration', async () => {
    const env = { ...serviceEnvironment(database.url, randomBytes(32)), MASTER_KEY: 'short' };
    expectSentence(
      await start(env),
      'The configuration is not usable:\nMASTER_KEY is a value of 5 characters, but must be 32 bytes in base64 (openssl rand -base64 32).',
    );
  });

  test('without a JSON line next to it on a terminal', async () => {
    const terminal = `data:text/javascript,Object.defineProperty(process.stdout,'isTTY',{value:true})`;
    const env = serviceEnvironment(database.url, randomBytes(32));
    const { told, messages } = await start({ ...env, NODE_OPTIONS: `--import ${terminal}` });
    expect(told).toContain('MASTER_KEY');
    expect(messages).toEqual([]);
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
      last: { level: 'fatal', msg: expect.stringMatching(/^REDIS_URL .* allkeys-lru/) },
    });
    await redis.stop();
    await fresh.drop();
  },
);
