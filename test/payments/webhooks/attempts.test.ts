import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { verifyWebhook } from '#client/index.ts';
import { createKeyring } from '#crypto/keyring.ts';
import { RETRY_DELAYS_SECONDS } from '#payments/webhooks/retry-schedule.ts';
import { listAttempts } from '#storage/repositories/webhooks/attempts.ts';
import { cloneDatabase, type TestDatabase } from '../../helpers/database.ts';
import { type Receiver, stall, startReceiver, status } from './receiver.ts';
import { openShop, type Shop } from './shop.ts';

const HOUR_MS = 60 * 60 * 1000;

let database: TestDatabase;
let shop: Shop;
let receiver: Receiver;
beforeAll(async () => {
  database = await cloneDatabase();
});
beforeEach(async () => {
  [shop, receiver] = await Promise.all([openShop(database), startReceiver()]);
});
afterEach(() => receiver.close());
afterAll(() => database.drop());

async function onlyDelivery() {
  const [delivery, ...others] = await shop.deliveries();
  if (delivery === undefined || others.length > 0) throw new Error('not one delivery');
  return delivery;
}

/** Milliseconds from now until the next attempt. */
async function delayMs(): Promise<number> {
  const { next_attempt_at: at } = await onlyDelivery();
  return (at?.getTime() ?? Number.NaN) - shop.clock();
}

test('an event arrives signed, exactly as it is stored', async () => {
  const { endpoint, secret } = await shop.addEndpoint(receiver.url);
  await shop.tell('payment_prompt.detected');
  await shop.attemptAll();
  const [request] = receiver.requests;
  if (request === undefined) throw new Error('nothing came');
  const events = shop.db.selectFrom('events').where('payment_id', '=', shop.payment.id);
  const event = await events.selectAll().executeTakeFirstOrThrow();
  expect(request.path).toBe('/hooks?shop=1');
  expect(request.headers).toMatchObject({
    'content-type': 'application/json',
    'webhook-id': event.id,
    'webhook-timestamp': String(shop.clock() / 1000),
  });
  expect(verifyWebhook({ ...request, secret, now: shop.clock })).toEqual({
    id: event.id,
    object: 'event',
    type: 'payment_prompt.detected',
    createdAt: event.created_at.toISOString(),
    data: event.data,
  });
  expect(request.body).toContain(JSON.stringify(event.data));
  expect(await onlyDelivery()).toMatchObject({
    endpoint_id: endpoint.id,
    status: 'succeeded',
    attempts: 1,
    next_attempt_at: null,
    finished_at: new Date(shop.clock()),
  });
  expect(await shop.attempts()).toMatchObject([{ number: 1, status_code: 200, error: null }]);
});

test('a failing endpoint is retried on schedule, then given up', async () => {
  await shop.addEndpoint(receiver.url);
  receiver.answer = status(500, {}, 'out of order');
  await shop.tell();
  for (const [index, seconds] of RETRY_DELAYS_SECONDS.entries()) {
    if (index > 0) {
      const delay = await delayMs();
      expect(delay).toBeGreaterThanOrEqual(seconds * 900);
      expect(delay).toBeLessThanOrEqual(seconds * 1100);
      shop.clock.now += delay;
    }
    await shop.attemptAll();
  }
  expect(await onlyDelivery()).toMatchObject({
    status: 'failed',
    attempts: 10,
    next_attempt_at: null,
  });
  const attempts = await shop.attempts();
  expect(attempts.map(attempt => attempt.number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect(attempts[9]).toMatchObject({ status_code: 500, response_excerpt: 'out of order' });
  expect(new Set(receiver.requests.map(request => request.body)).size).toBe(1);
  expect(new Set(receiver.requests.map(request => request.headers['webhook-id'])).size).toBe(1);
});

test('an endpoint that recovers gets the event on the next attempt', async () => {
  await shop.addEndpoint(receiver.url);
  receiver.answer = response => void response.socket?.destroy();
  await shop.tell();
  await shop.attemptAll();
  receiver.answer = status(204);
  await shop.attemptAll();
  expect(await onlyDelivery()).toMatchObject({ status: 'succeeded', attempts: 2 });
  const [dropped, done] = await shop.attempts();
  expect(dropped).toMatchObject({ status_code: null, error: 'other side closed' });
  expect(done).toMatchObject({ status_code: 204, error: null });
});

test('an endpoint that does not respond in time has failed', async () => {
  await shop.addEndpoint(receiver.url);
  await shop.tell();
  receiver.answer = stall;
  await shop.attemptAll({ timeoutMs: 150 });
  // Headers, and then a body that never ends: the status is enough.
  receiver.answer = response => void response.writeHead(200).write('thank whsec_QUJD');
  await shop.attemptAll({ timeoutMs: 1_000 });
  const [first, second] = await shop.attempts();
  expect(first).toMatchObject({ status_code: null, error: 'no answer within 0.15 s' });
  expect(first?.duration_ms).toBeLessThan(10_000);
  expect(second).toMatchObject({ status_code: 200, response_excerpt: 'thank whsec_***' });
});

test('no server listens: the attempt records the reason', async () => {
  await shop.addEndpoint('http://127.0.0.1:9/');
  await shop.tell();
  await shop.attemptAll();
  expect(await shop.attempts()).toMatchObject([
    { status_code: null, error: expect.stringContaining('ECONNREFUSED') },
  ]);
});

test.each([301, 302, 307, 308])('a redirect (%i) is a failure and not followed', async code => {
  const elsewhere = await startReceiver();
  await shop.addEndpoint(receiver.url);
  receiver.answer = status(code, { location: elsewhere.url });
  await shop.tell();
  await shop.attemptAll();
  expect(elsewhere.requests).toEqual([]);
  expect(await shop.attempts()).toMatchObject([{ status_code: code }]);
  expect(await onlyDelivery()).toMatchObject({ status: 'pending', attempts: 1 });
  await elsewhere.close();
});

test('of a huge body the first KiB is stored, and the rest not waited for', async () => {
  await shop.addEndpoint(receiver.url);
  let sent = 0;
  receiver.answer = response => {
    response.writeHead(200);
    const chunk = Buffer.alloc(64 * 1024, 'a€\0');
    const more = () => {
      while (sent < 1e9 && response.write(chunk)) sent += chunk.length;
    };
    response.on('drain', more).on('error', () => undefined);
    more();
  };
  await shop.tell();
  await shop.attemptAll();
  const [attempt] = await shop.attempts();
  expect(attempt?.status_code).toBe(200);
  expect(attempt?.response_excerpt).toMatch(/^(a€)+a?$/);
  expect(Buffer.byteLength(attempt?.response_excerpt ?? '')).toBeLessThanOrEqual(1024);
  expect(sent).toBeLessThan(20e6);
});

test.each([
  ['120', 120_000],
  ['0', 0],
  ['999999', 24 * HOUR_MS],
  ['Sun, 17 May 2026 15:00:00 GMT', 3 * HOUR_MS],
  ['Sun, 17 May 2020 15:00:00 GMT', 0],
  ['soon', 0],
])('Retry-After: %s is honoured', async (header, minimum) => {
  await shop.addEndpoint(receiver.url);
  receiver.answer = status(503, { 'retry-after': header });
  await shop.tell();
  await shop.attemptAll();
  const delay = await delayMs();
  // Never sooner than the schedule.
  expect(delay).toBeGreaterThanOrEqual(Math.max(minimum, 4_500));
  expect(delay).toBeLessThanOrEqual(Math.max(minimum, 5_500));
});

test('the last responses of several deliveries are read in one query', async () => {
  const { endpoint: failing } = await shop.addEndpoint(receiver.url);
  const { endpoint: closed } = await shop.addEndpoint('http://127.0.0.1:9/');
  await shop.tell();
  for (const code of [500, 404]) {
    receiver.answer = status(code);
    await shop.attemptAll();
  }
  const deliveries = await shop.deliveries();
  const query = vi.spyOn(pg.Client.prototype, 'query');
  const attempts = await listAttempts(shop.db, deliveries, 100);
  const reads = query.mock.calls.filter(([sent]) =>
    (sent as unknown as pg.QueryConfig).text.includes('webhook_attempts'),
  );
  query.mockRestore();
  expect(reads).toHaveLength(1);
  const last = new Map(attempts.map(attempt => [attempt.delivery_id, attempt]));
  const lastAt = (endpointId: string) =>
    last.get(deliveries.find(each => each.endpoint_id === endpointId)?.id ?? '');
  expect(lastAt(failing.id)).toMatchObject({ number: 2, status_code: 404, error: null });
  expect(lastAt(closed.id)).toMatchObject({
    number: 2,
    status_code: null,
    error: expect.stringContaining('ECONNREFUSED'),
  });
});

test('410 disables the endpoint and cancels what is still to be sent to it', async () => {
  const { endpoint } = await shop.addEndpoint(receiver.url);
  receiver.answer = status(410);
  await shop.tell();
  await shop.tell('payment_prompt.detected');
  await shop.attemptAll();
  expect((await shop.deliveries()).map(delivery => delivery.status).sort()).toEqual([
    'cancelled',
    'failed',
  ]);
  expect(receiver.requests).toHaveLength(1);
  await shop.tell('payment_prompt.successful');
  expect(await shop.deliveries()).toHaveLength(2);
  const { db } = shop;
  const endpoints = db.selectFrom('webhook_endpoints').where('id', '=', endpoint.id);
  expect(await endpoints.selectAll().executeTakeFirst()).toMatchObject({
    disabled_at: new Date(shop.clock()),
    disabled_reason: 'answered-gone',
  });
  const audit = db.selectFrom('audit_log').selectAll().where('object_id', '=', endpoint.id);
  expect(await audit.where('action', '=', 'webhook.disable').execute()).toMatchObject([
    { actor: 'worker' },
  ]);
});

test('production sends to https only', async () => {
  await shop.addEndpoint(receiver.url);
  await shop.tell();
  await shop.attemptAll({ allowPrivateAddresses: false });
  expect(receiver.requests).toEqual([]);
  expect(await shop.attempts()).toMatchObject([{ error: 'the URL is not https' }]);
});

test('a secret that no key can open fails the attempt, and is logged', async () => {
  await shop.addEndpoint(receiver.url);
  await shop.tell();
  await shop.attemptAll({ keyring: createKeyring([Buffer.alloc(32, 7)]) });
  expect(receiver.requests).toEqual([]);
  expect(await shop.attempts()).toMatchObject([{ error: 'the signing secret cannot be opened' }]);
  expect(shop.logs).toContainEqual(
    expect.objectContaining({ level: 'error', msg: 'webhook secret cannot be opened' }),
  );
});

test('an attempt is made by one worker, and taken over when that one is gone', async () => {
  await shop.addEndpoint(receiver.url);
  await shop.tell();
  const { id } = await onlyDelivery();
  const claim = (at: Date | null) =>
    shop.db
      .updateTable('webhook_deliveries')
      .set({ claimed_until: at })
      .where('id', '=', id)
      .execute();
  await claim(new Date(shop.clock() + 1));
  await shop.attemptAll();
  expect(receiver.requests).toEqual([]);
  await claim(new Date(shop.clock()));
  await shop.attemptAll();
  expect(receiver.requests).toHaveLength(1);
});
