import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { addMerchant, type MerchantWithKey } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { freePort, launchRedis, REDIS_MISSING, type TestRedis } from '../helpers/redis-server.ts';
import { expectRefusal } from '../helpers/refusal.ts';
import { send } from '../helpers/signed-request.ts';

const GAP = 'read served without replay protection';
const missing = inject('redisServer') === null;

describe.skipIf(missing)(missing ? REDIS_MISSING : 'an outage of Redis', () => {
  let redis: TestRedis;
  let service: TestApp;
  let shop: MerchantWithKey;
  let port: number;

  beforeAll(async () => {
    port = await freePort();
    redis = await launchRedis(port);
    service = await startTestApp({ nonces: { redisUrl: redis.url } });
    shop = await addMerchant(service);
  });
  afterAll(async () => {
    await service.close();
    await redis.stop();
  });

  const create = () =>
    send(service, shop, {
      path: '/external/v1/payments/prompt',
      body: { amount: 5000 },
      headers: { 'idempotency-key': crypto.randomUUID() },
    });
  const list = (headers = {}) => send(service, shop, { path: '/external/v1/payments', headers });
  const readiness = async () => {
    // A response of /readyz is cached for a second.
    service.clock.now += 1000;
    const answer = await service.app.inject({ url: '/readyz' });
    return { code: answer.statusCode, ...answer.json() };
  };
  const count = async (table: 'payments' | 'events' | 'idempotency_keys') =>
    (await service.db.selectFrom(table).select('created_at').execute()).length;
  const gaps = () => service.logs.filter(({ msg }) => msg === GAP);

  test('has no effect before it begins', async () => {
    expect((await create()).statusCode).toBe(201);
    expect((await list()).statusCode).toBe(200);
    expect(gaps()).toEqual([]);
    expect(await readiness()).toMatchObject({
      code: 200,
      status: 'ok',
      database: 'ok',
      nonces: 'ok',
    });
  });

  test('refuses creations, admits reads, and reports both', async () => {
    await redis.stop();
    const error = expectRefusal(await create(), 'E5002');
    expect(error.message).toContain('nothing was executed');
    for (const table of ['payments', 'events', 'idempotency_keys'] as const) {
      expect({ table, rows: await count(table) }).toEqual({ table, rows: 1 });
    }

    const read = await list();
    expect(read.statusCode).toBe(200);
    expect(gaps()).toEqual([
      expect.objectContaining({ level: 'warn', reqId: read.headers['x-request-id'] }),
    ]);
    expectRefusal(await list({ 'x-mp-signature': '0'.repeat(64) }), 'E2007');
    expect(gaps()).toHaveLength(1);

    expect(await readiness()).toMatchObject({
      code: 503,
      status: 'unavailable',
      database: 'ok',
      nonces: 'unavailable',
    });
    expect((await service.app.inject({ url: '/healthz' })).statusCode).toBe(200);
  });

  test('does not keep a replica from starting', async () => {
    const replica = await startTestApp({ beside: service, nonces: { redisUrl: redis.url } });
    try {
      const read = await send(replica, shop, { path: '/external/v1/payments' });
      expect(read.statusCode).toBe(200);
    } finally {
      await replica.close();
    }
  });

  test('ends by itself when Redis comes back', async () => {
    redis = await launchRedis(port);
    await vi.waitFor(async () => expect((await create()).statusCode).toBe(201), {
      timeout: 10_000,
      interval: 100,
    });
    expect(await count('payments')).toBe(2);
    const known = gaps().length;
    expect((await list()).statusCode).toBe(200);
    expect(gaps()).toHaveLength(known);
    expect(await readiness()).toMatchObject({
      code: 200,
      status: 'ok',
      database: 'ok',
      nonces: 'ok',
    });
  });
});
