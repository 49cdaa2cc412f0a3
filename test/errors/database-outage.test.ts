import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect, type Database } from '#storage/database/connection.ts';
import { addMerchant, type MerchantWithKey } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { cloneDatabase, type TestDatabase } from '../helpers/database.ts';
import { expectRefusal } from '../helpers/refusal.ts';
import { send } from '../helpers/signed-request.ts';
import { startTcpProxy, type TcpProxy } from '../helpers/tcp-proxy.ts';

let direct: TestDatabase;
let proxy: TcpProxy;
let db: Database;
let service: TestApp;
let shop: MerchantWithKey;

beforeAll(async () => {
  direct = await cloneDatabase();
  const url = new URL(direct.url);
  proxy = await startTcpProxy(url.hostname, Number(url.port || 5432));
  url.hostname = '127.0.0.1';
  url.port = String(proxy.port);
  db = connect({
    url: url.href,
    poolSize: 5,
    applicationName: 'test-outage',
    onIdleError: () => undefined,
  });
  service = await startTestApp({ database: { db, url: url.href } });
  shop = await addMerchant(service);
});
afterAll(async () => {
  await service.close();
  await db.destroy();
  await proxy.cut();
  await direct.drop();
});

const list = () => send(service, shop, { path: '/external/v1/payments' });
const create = (idempotencyKey: string) =>
  send(service, shop, {
    path: '/external/v1/payments/prompt',
    body: { amount: 5000 },
    headers: { 'idempotency-key': idempotencyKey },
  });
const readiness = async () => {
  // A response of /readyz is cached for a second.
  service.clock.now += 1000;
  const answer = await service.app.inject({ url: '/readyz' });
  return { code: answer.statusCode, ...answer.json() };
};
const payments = async () => (await direct.db.selectFrom('payments').select('id').execute()).length;

test('an unavailable database is an E5002, and everything works again when it is back', async () => {
  expect((await list()).statusCode).toBe(200);
  expect(await readiness()).toMatchObject({ code: 200, database: 'ok' });

  await proxy.cut();
  // The first requests get broken connections, the later ones a server that refuses.
  for (let round = 0; round < 3; round++) {
    for (const answer of await Promise.all([list(), create('order-1'), list()])) {
      const { requestId } = expectRefusal(answer, 'E5002');
      expect(answer.body).not.toMatch(/ECONN|127\.0\.0\.1|terminated/);
      expect(service.logs).toContainEqual(
        expect.objectContaining({ reqId: requestId, msg: 'request failed', errorCode: 'E5002' }),
      );
    }
  }
  expect(await readiness()).toMatchObject({
    code: 503,
    status: 'unavailable',
    database: 'unavailable',
  });
  expect((await service.app.inject({ url: '/healthz' })).statusCode).toBe(200);
  expect(await payments()).toBe(0);

  await proxy.open();
  expect((await list()).statusCode).toBe(200);
  // The refusal was not stored under the key.
  expect((await create('order-1')).statusCode).toBe(201);
  expect(await payments()).toBe(1);
  expect(await readiness()).toMatchObject({ code: 200, database: 'ok' });
});
