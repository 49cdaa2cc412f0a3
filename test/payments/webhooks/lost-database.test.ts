import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { connect, type Database } from '#storage/database/connection.ts';
import { type CuttingProxy, startCuttingProxy } from '../../helpers/cutting-proxy.ts';
import { cloneDatabase, type TestDatabase } from '../../helpers/database.ts';
import { SOON } from '../../helpers/soon.ts';
import { watchStalls } from '../../helpers/stalls.ts';
import { startTcpProxy } from '../../helpers/tcp-proxy.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { type RunningWorker, startWorker } from './running-worker.ts';
import { openShop, type Shop } from './shop.ts';

/** A worker whose connection breaks where that would lose or repeat an attempt. */

let database: TestDatabase;
let proxy: CuttingProxy;
let throughProxy: Database;
let shop: Shop;
let receiver: Receiver;
let worker: RunningWorker;
beforeAll(async () => {
  database = await cloneDatabase();
  proxy = await startCuttingProxy(database.url);
  throughProxy = connect({
    url: proxy.url,
    poolSize: 2,
    applicationName: 'test',
    onIdleError: () => undefined,
  });
});
beforeEach(async () => {
  [shop, receiver] = await Promise.all([openShop(database, Date.now()), startReceiver()]);
  await shop.addEndpoint(receiver.url);
  worker = startWorker({ ...shop, db: throughProxy });
});
afterEach(async () => {
  await worker.stop();
  await receiver.close();
});
afterAll(async () => {
  await throughProxy.destroy();
  await proxy.close();
  await database.drop();
});

const isDelivered = async () => {
  const deliveries = await shop.deliveries();
  return deliveries.every(({ status }) => status === 'succeeded');
};

test.each(['before', 'after'] as const)(
  'a claim whose connection is cut %s its commit is made again',
  async when => {
    proxy.cutAt('set claimed_until =', when);
    await shop.tell();
    // Long before a claim expires.
    await vi.waitUntil(isDelivered, SOON);
    expect(receiver.requests).toHaveLength(1);
  },
);

test.each(['before', 'after'] as const)(
  'an attempt whose record is cut off %s its commit is made once, and recorded once',
  async when => {
    proxy.cutAt('webhook_attempts', when);
    await shop.tell();
    await vi.waitUntil(isDelivered, SOON);
    expect(receiver.requests).toHaveLength(1);
    expect(await shop.attempts()).toMatchObject([{ number: 1, status_code: 200 }]);
  },
);

test('a network that swallows everything delays webhooks by less than 10 seconds after its end', async () => {
  const { hostname, port } = new URL(database.url);
  const network = await startTcpProxy(hostname, Number(port));
  const url = Object.assign(new URL(database.url), { host: `127.0.0.1:${network.port}` }).href;
  const db = connect({ url, poolSize: 2, applicationName: 'test', onIdleError: () => undefined });
  await worker.stop();
  worker = startWorker({ ...shop, db });
  await shop.tell();
  await vi.waitUntil(isDelivered, SOON);
  network.hold();
  network.freeze();
  await shop.tell();
  // Longer than any statement may take, so that the worker has failed meanwhile.
  await sleep(6_000);
  const stalls = watchStalls();
  await network.open();
  const openedAt = stalls.now();
  await vi.waitUntil(isDelivered, { timeout: 30_000, interval: 20 });
  expect(stalls.now() - openedAt).toBeLessThan(10_000);
  stalls.stop();
  expect(receiver.requests).toHaveLength(2);
  await worker.stop();
  await db.destroy();
  await network.cut();
});
