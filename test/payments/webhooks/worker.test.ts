import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { guardedConnector } from '#outbound/guarded-connector.ts';
import { attemptDelivery } from '#payments/webhooks/attempt-delivery.ts';
import { ATTEMPT_TIMEOUT_MS } from '#payments/webhooks/send.ts';
import { claimDeliveries } from '#storage/repositories/webhooks/claims.ts';
import { cloneDatabase, type TestDatabase } from '../../helpers/database.ts';
import { idAt } from '../../helpers/id-at.ts';
import { type Receiver, stall, startReceiver, status } from './receiver.ts';
import { type RunningWorker, startWorker } from './running-worker.ts';
import { openShop, type Shop } from './shop.ts';

/** A third of what an endpoint that stalls takes, and far more than others need. */
const PROMPT_MS = ATTEMPT_TIMEOUT_MS / 3;

let database: TestDatabase;
let shop: Shop;
let receiver: Receiver;
let worker: RunningWorker | undefined;
/** Takes most of ten seconds, while the other tests run. */
let survival: Promise<void>;
beforeAll(async () => {
  database = await cloneDatabase();
  survival = surviveLostQueue();
  // Reported where it is awaited.
  survival.catch(() => undefined);
});
beforeEach(async () => {
  [shop, receiver] = await Promise.all([openShop(database, Date.now()), startReceiver()]);
});
afterEach(async () => {
  await receiver.close();
  await worker?.stop();
});
afterAll(() => database.drop());

async function untilStatus(expected: string, { deliveries } = shop): Promise<void> {
  const end = Date.now() + 10_000;
  while (!(await deliveries()).every(delivery => delivery.status === expected)) {
    if (Date.now() > end) throw new Error(`the deliveries are not ${expected}`);
    await sleep(20);
  }
}

/** On its own database, whose connections it ends. */
async function surviveLostQueue(): Promise<void> {
  const lossy = await cloneDatabase();
  const target = await startReceiver();
  const owner = await openShop(lossy, Date.now());
  await owner.addEndpoint(target.url);
  const surviving = startWorker(owner);
  try {
    await owner.tell();
    await target.received(1);
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where pid != pg_backend_pid() and datname = current_database()`.execute(owner.db);
    await owner.tell();
    // The queue may have to be restarted.
    await target.received(2, 25_000);
    await untilStatus('succeeded', owner);
  } finally {
    await surviving.stop();
    await target.close();
    await lossy.drop();
  }
}

test('an event is sent at once, and its outcome is logged', async () => {
  worker = startWorker(shop);
  await shop.addEndpoint(receiver.url);
  await shop.tell();
  await receiver.received(1);
  await untilStatus('succeeded');
  const startedAt = Date.now();
  await shop.tell('payment_prompt.detected');
  await receiver.received(2);
  // Less than the pause after a failure; usually it takes a fifth of a second.
  expect(Date.now() - startedAt).toBeLessThan(5_000);
  await untilStatus('succeeded');
  await worker.stop();
  expect(shop.logs.filter(({ msg }) => msg === 'webhook attempted')).toHaveLength(2);
  expect(JSON.stringify(shop.logs)).not.toContain('whsec_');
  expect(shop.logs.filter(({ level }) => level === 'error')).toEqual([]);
});

test('an endpoint that stalls with a thousand deliveries waiting delays no other', async () => {
  const stalled = await startReceiver(stall);
  await shop.addEndpoint(stalled.url);
  await sql`
    with event as (
      insert into events (id, merchant_id, payment_id, type, created_at, data)
      select ${idAt(sql`now()`)}, ${shop.merchant.id}, ${shop.payment.id},
             'payment_prompt.created', now(), '{}' from generate_series(1, 1000)
      returning id),
    delivery as (
      insert into webhook_deliveries (id, event_id, endpoint_id, next_attempt_at, created_at)
      select gen_random_uuid(), event.id, endpoint.id, now(), now()
      from event, webhook_endpoints as endpoint where endpoint.merchant_id = ${shop.merchant.id})
    select`.execute(shop.db);
  const other = await openShop(database, Date.now(), shop.masterKey);
  await other.addEndpoint(receiver.url);
  worker = startWorker(shop);
  await stalled.received(1);

  const waits: number[] = [];
  for (let count = 1; count <= 10; count++) {
    const startedAt = Date.now();
    await other.tell();
    await receiver.received(count);
    waits.push(Date.now() - startedAt);
  }
  expect(Math.max(...waits)).toBeLessThan(PROMPT_MS);
  // It holds only one slot, and none of its deliveries is lost.
  expect(stalled.requests).toHaveLength(1);
  const statuses = (await shop.deliveries()).map(delivery => delivery.status);
  expect(statuses).toEqual(Array(1000).fill('pending'));
  await stalled.close();
  await worker.stop();
});

test('many endpoints that stall, of several merchants, delay no other', async () => {
  const stalled = await startReceiver(stall);
  const openShops = (count: number) =>
    Promise.all(
      Array.from({ length: count }, () => openShop(database, Date.now(), shop.masterKey)),
    );
  const stallShops = async (shops: Shop[], endpoints: number) => {
    for (const one of shops) {
      for (let count = 0; count < endpoints; count++) {
        await one.addEndpoint(`${stalled.url}&endpoint=${count}`);
      }
      await one.tell();
    }
  };
  const expectPrompt = async (count: number) => {
    const startedAt = Date.now();
    await other.tell();
    await receiver.received(count);
    expect(Date.now() - startedAt).toBeLessThan(PROMPT_MS);
  };
  const [other = shop, ...shops] = await openShops(11);
  await other.addEndpoint(receiver.url);
  await stallShops(shops.slice(0, 3), 8);
  worker = startWorker(shop);
  await stalled.received(6);
  // Three merchants leave slots even for a new endpoint.
  await expectPrompt(1);
  await stallShops(shops.slice(3), 2);
  await stalled.received(16);
  await expectPrompt(2);
  expect(stalled.requests).toHaveLength(16);
  await stalled.close();
  await worker.stop();
});

test('when it is told to stop, the worker waits for responses that may still come', async () => {
  receiver.answer = stall;
  await shop.addEndpoint(receiver.url);
  await shop.tell();
  worker = startWorker(shop);
  let answer = () => {};
  receiver.answer = response => {
    answer = () => status(200)(response, receiver.requests[0] as never);
  };
  await receiver.received(1);
  const stopped = worker.stop();
  await sleep(100);
  answer();
  await stopped;
  expect(await shop.deliveries()).toMatchObject([{ status: 'succeeded', attempts: 1 }]);
});

test('an attempt that is interrupted by stopping is left to the next worker', async () => {
  receiver.answer = stall;
  await shop.addEndpoint(receiver.url);
  await shop.tell();
  const [{ endpoint_id: endpointId = '' } = {}] = await shop.deliveries();
  const now = new Date(shop.clock());
  const until = new Date(shop.clock() + 60_000);
  const [claimed] = await claimDeliveries(shop.db, [{ endpointId, count: 1 }], { now, until });
  if (claimed === undefined) throw new Error('nothing was claimed');
  const controller = new AbortController();
  const connect = guardedConnector({ allowPrivateAddresses: true, timeoutMs: 1_000 });
  const attempt = attemptDelivery(
    { ...shop, connect, allowPrivateAddresses: true },
    claimed,
    controller.signal,
  );
  await receiver.received(1);
  controller.abort();
  await attempt;
  const released = { status: 'pending', attempts: 0, claimed_until: null };
  expect(await shop.deliveries()).toMatchObject([released]);
  expect(await shop.attempts()).toEqual([]);
  receiver.answer = status(200);
  worker = startWorker(shop);
  await untilStatus('succeeded');
  await worker.stop();
  expect(receiver.requests).toHaveLength(2);
});

test('the worker survives the loss of all its queue connections', () => survival);
