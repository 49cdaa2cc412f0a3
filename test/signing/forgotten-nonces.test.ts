import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  inject,
  onTestFinished,
  test,
  vi,
} from 'vitest';
import { createRedisNonces } from '#signing/redis-nonces.ts';
import { addMerchant, type MerchantWithKey } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { freePort, launchRedis, REDIS_MISSING, type TestRedis } from '../helpers/redis-server.ts';
import { expectRefusal } from '../helpers/refusal.ts';
import { send } from '../helpers/signed-request.ts';

const KEY = 'mpk_0123456789abcdef01234567';
const missing = inject('redisServer') === null;

describe.skipIf(missing)(missing ? REDIS_MISSING : 'nonces that Redis has forgotten', () => {
  let directory: string;
  let port: number;
  let redis: TestRedis;
  let service: TestApp;
  let shop: MerchantWithKey;
  const launch = (...settings: string[]) => launchRedis(port, ['--dir', directory, ...settings]);

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'eps-redis-'));
    port = await freePort();
    redis = await launch();
    service = await startTestApp({ nonces: { redisUrl: redis.url } });
    shop = await addMerchant(service);
  });
  afterAll(async () => {
    await service.close();
    await redis.stop();
    await rm(directory, { recursive: true });
  });
  beforeEach(() => {
    service.clock.now += 60_000;
  });

  /** Captures a creation without an idempotency key, to be replayed. */
  const capture = () => {
    const captured = { nonce: crypto.randomUUID(), now: service.clock() };
    return () => create(captured);
  };
  const create = (signed = {}) =>
    send(service, shop, {
      path: '/external/v1/payments/prompt',
      body: { amount: 5000 },
      ...signed,
    });
  const list = (signed = {}) => send(service, shop, { path: '/external/v1/payments', ...signed });
  const payments = async () =>
    (await service.db.selectFrom('payments').select('id').execute()).length;

  /** Waits until the application is connected again. */
  const isBack = () =>
    vi.waitFor(
      async () => {
        service.clock.now += 1000;
        const { statusCode } = await service.app.inject({ url: '/readyz' });
        expect(statusCode).toBe(200);
      },
      { timeout: 10_000, interval: 50 },
    );

  /** Expects that nothing captured before `forget` is executed again, and that everything else is. */
  async function expectProtected(forget: () => Promise<void>): Promise<void> {
    const replay = capture();
    const signedAt = service.clock();
    expect((await replay()).statusCode).toBe(201);
    expectRefusal(await replay(), 'E2009');
    await forget();
    await isBack();
    const before = await payments();
    const refusal = expectRefusal(await replay(), 'E5002');
    expect(refusal.message).toContain('nothing was executed');
    expect(await payments()).toBe(before);
    // A client recovers with a fresh signature. A replayed read is harmless.
    expect((await create()).statusCode).toBe(201);
    expect((await list({ now: signedAt })).statusCode).toBe(200);
    expectRefusal(await replay(), 'E2009');
  }

  test('at a restart without data', async () => {
    await expectProtected(async () => {
      await redis.stop();
      redis = await launch();
    });
  });

  test('at a restart with an older state', async () => {
    await redis.stop();
    const keeps = ['--save', '3600 1'];
    redis = await launch(...keeps);
    await isBack();
    const operator = new Redis(redis.url);
    await operator.save();
    operator.disconnect();
    await expectProtected(async () => {
      await redis.stop();
      redis = await launch(...keeps);
    });
  });

  test('when somebody has flushed it', async () => {
    await expectProtected(async () => {
      const operator = new Redis(redis.url);
      await operator.flushall();
      operator.disconnect();
    });
  });

  test('refuse nothing while it is the same server', async () => {
    const signed = { now: service.clock() };
    service.clock.now += 120_000;
    expect((await create(signed)).statusCode).toBe(201);
  });

  test('at a failover, where the last second may be lost', async () => {
    const other = await launchRedis(await freePort(), ['--dir', directory]);
    const standby = new Redis(other.url);
    const clock = Object.assign(() => clock.now, { now: 1_000_000 });
    onTestFinished(async () => {
      standby.disconnect();
      await other.stop();
    });
    const open = ({ url }: TestRedis) => {
      const nonces = createRedisNonces(url, { clock, onError: () => undefined });
      onTestFinished(() => nonces.close());
      return nonces;
    };
    const before = open(redis);
    const held = crypto.randomUUID();
    await before.claim(KEY, held, clock());
    await standby.replicaof('127.0.0.1', port);
    await vi.waitUntil(async () => (await standby.dbsize()) > 0, { timeout: 10_000 });
    // A server begins another history when its first replica connects, without having lost anything.
    const { isNew, since } = await before.claim(KEY, held, clock());
    expect(isNew).toBe(false);
    await standby.replicaof('NO', 'ONE');
    clock.now += 5000;
    const after = open(other);
    expect((await before.claim(KEY, 'still there', clock())).since).toBe(since);
    expect((await after.claim(KEY, 'on the other', clock())).since).toBe(clock.now);
  });
});
