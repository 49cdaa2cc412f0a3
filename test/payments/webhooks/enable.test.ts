import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { guardedConnector } from '#outbound/guarded-connector.ts';
import { attemptDelivery } from '#payments/webhooks/attempt-delivery.ts';
import { disableEndpoint, enableEndpoint } from '#payments/webhooks/change-endpoint.ts';
import { ENDPOINTS_MAXIMUM } from '#payments/webhooks/manage-endpoints.ts';
import { redeliver, redeliverFailed } from '#payments/webhooks/redeliver.ts';
import { claimDeliveries } from '#storage/repositories/webhooks/claims.ts';
import { cloneDatabase, type TestDatabase } from '../../helpers/database.ts';
import { idAt } from '../../helpers/id-at.ts';
import { type Receiver, startReceiver, status } from './receiver.ts';
import { openShop, type Shop } from './shop.ts';

const HOUR_MS = 60 * 60_000;

let database: TestDatabase;
let receiver: Receiver;
let shop: Shop;
let endpointId: string;
beforeAll(async () => {
  database = await cloneDatabase();
});
beforeEach(async () => {
  [shop, receiver] = await Promise.all([openShop(database), startReceiver()]);
  endpointId = (await shop.addEndpoint(receiver.url)).endpoint.id;
});
afterEach(() => receiver.close());
afterAll(() => database.drop());

const disable = () => disableEndpoint(shop.operator, endpointId, 'disabled-by Ada');
const enable = () => enableEndpoint(shop.operator, endpointId);
const statuses = async () => (await shop.deliveries(endpointId)).map(each => each.status);
const sentTypes = () => receiver.requests.map(({ event }) => event.type);

test('enabling an endpoint queues again what disabling it cancelled, in the order of the events', async () => {
  receiver.answer = status(500);
  await shop.tell('payment_prompt.created');
  await shop.attemptAll();
  shop.clock.now += 1;
  await shop.tell('payment_prompt.detected');
  await shop.tell('payment_prompt.successful');
  const before = await shop.deliveries();
  await disable();
  expect(await statuses()).toEqual(['cancelled', 'cancelled', 'cancelled']);
  shop.clock.now += 90 * 24 * HOUR_MS;
  await shop.tell('payment_prompt.expired');
  shop.clock.now += 1;

  expect(await enable()).toMatchObject({
    endpoint: { id: endpointId, disabled_at: null, disabled_reason: null },
    deliveries: 3,
    hasMore: false,
  });
  const after = await shop.deliveries();
  // The same deliveries of the same events, whose attempts go on.
  expect(after).toEqual(
    before.map(delivery => ({
      ...delivery,
      claimed_until: null,
      next_attempt_at: expect.any(Date),
    })),
  );
  const due = after.map(({ next_attempt_at: at }) => at?.getTime() ?? Number.NaN);
  expect(due).toEqual([shop.clock.now - 2, shop.clock.now - 1, shop.clock.now]);
  receiver.requests.length = 0;
  receiver.answer = status(200);
  await shop.attemptAll();
  expect(sentTypes()).toEqual([
    'payment_prompt.created',
    'payment_prompt.detected',
    'payment_prompt.successful',
  ]);
  expect(receiver.requests.map(({ headers }) => headers['webhook-id'])).toEqual(
    before.map(({ event_id: id }) => id),
  );
  expect((await shop.deliveries()).map(({ attempts }) => attempts)).toEqual([2, 1, 1]);
  const entries = await shop.db
    .selectFrom('audit_log')
    .select('detail')
    .where('action', '=', 'webhook.enable')
    .where('object_id', '=', endpointId)
    .execute();
  expect(entries).toEqual([{ detail: { deliveries: 3 } }]);
});

test('only what the last disabling cancelled is queued, and each delivery arrives once', async () => {
  await shop.tell('payment_prompt.created');
  await disable();
  // As an older version of the service did, which left everything cancelled.
  await shop.db
    .updateTable('webhook_endpoints')
    .set({ disabled_at: null, disabled_reason: null })
    .where('id', '=', endpointId)
    .execute();
  shop.clock.now += HOUR_MS;
  await shop.tell('payment_prompt.detected');
  await disable();
  expect(await enable()).toMatchObject({ deliveries: 1 });
  expect(await statuses()).toEqual(['cancelled', 'pending']);
  // Once more, before anything was sent.
  shop.clock.now += HOUR_MS;
  await disable();
  expect(await enable()).toMatchObject({ deliveries: 1 });
  await shop.attemptAll();
  expect(sentTypes()).toEqual(['payment_prompt.detected']);
  shop.clock.now += HOUR_MS;
  await disable();
  expect(await enable()).toMatchObject({ deliveries: 0 });
  expect(await statuses()).toEqual(['cancelled', 'succeeded']);
});

test('what was redelivered stays cancelled, even if clocks differ', async () => {
  await shop.tell();
  const [original] = await shop.deliveries();
  const ahead = { ...shop.operator, clock: () => shop.clock.now + 60_000 };
  const again = await redeliver(ahead, original?.id ?? '');
  await disable();
  expect(await enable()).toMatchObject({ deliveries: 1 });
  const found = await shop.deliveries();
  expect(found.find(({ id }) => id === again.id)?.status).toBe('pending');
  expect(found.find(({ id }) => id === original?.id)?.status).toBe('cancelled');
});

test('other endpoints keep what was cancelled for them', async () => {
  const { endpoint: other } = await shop.addEndpoint(`${receiver.url}&other`);
  await shop.tell();
  await disable();
  await disableEndpoint(shop.operator, other.id, 'disabled-by Ada');
  expect(await enable()).toMatchObject({ deliveries: 1 });
  expect((await shop.deliveries(other.id)).map(each => each.status)).toEqual(['cancelled']);
});

test('an endpoint that answered 410 is enabled again, without what it answered so', async () => {
  receiver.answer = status(410);
  await shop.tell('payment_prompt.created');
  await shop.tell('payment_prompt.detected');
  await shop.attemptAll();
  receiver.answer = status(200);
  expect(await enable()).toMatchObject({ deliveries: 1 });
  await shop.attemptAll();
  expect((await statuses()).sort()).toEqual(['failed', 'succeeded']);
  expect(receiver.requests).toHaveLength(2);
});

test('a merchant with as many endpoints as there may be cannot enable another one', async () => {
  await shop.tell();
  await disable();
  for (let n = 0; n < ENDPOINTS_MAXIMUM; n++) await shop.addEndpoint(`${receiver.url}&${n}`);
  await expect(enable()).rejects.toThrow('A merchant may have at most 16 webhook endpoints.');
  expect(await statuses()).toEqual(['cancelled']);
});

test('what commits while the endpoint is being disabled is queued again, too', async () => {
  const ahead = { ...shop.operator, clock: () => shop.clock.now + 60_000 };
  await shop.db.transaction().execute(async tx => {
    await shop.tell('payment_prompt.created', tx);
    await disableEndpoint(ahead, endpointId, 'disabled-by Ada');
  });
  // A worker finds the endpoint disabled, at a time before that of the disabling.
  await shop.attemptAll();
  expect(await statuses()).toEqual(['cancelled']);
  expect(await enable()).toMatchObject({ deliveries: 1 });
  await shop.attemptAll();
  expect(await statuses()).toEqual(['succeeded']);
});

test('a worker that saw the endpoint disabled does not cancel once it is enabled', async () => {
  await shop.db.transaction().execute(async tx => {
    await shop.tell('payment_prompt.created', tx);
    await disable();
  });
  const now = new Date(shop.clock.now);
  const times = { now, until: new Date(shop.clock.now + 60_000) };
  const [claimed] = await claimDeliveries(shop.db, [{ endpointId, count: 1 }], times);
  if (claimed === undefined) throw new Error('nothing is due');
  await enable();
  const { db, clock, keyring, logger } = shop;
  const connect = guardedConnector({ allowPrivateAddresses: true, timeoutMs: 1_000 });
  const dependencies = { db, clock, keyring, logger, connect, allowPrivateAddresses: true };
  await attemptDelivery(dependencies, claimed, new AbortController().signal);
  expect(await shop.deliveries()).toMatchObject([{ status: 'pending', claimed_until: null }]);
  await shop.attemptAll();
  expect(await statuses()).toEqual(['succeeded']);
});

test('at most 10,000 are queued again, the oldest, and redelivering takes the rest', async () => {
  const since = new Date(shop.clock.now - HOUR_MS);
  await sql`
    with event as (
      insert into events
      select ${idAt(sql`at`)}, ${shop.merchant.id}, ${shop.payment.id}, 'payment_prompt.created', at, '{}'
      from generate_series(1, 10003) as n,
           lateral (select ${since}::timestamptz + n * interval '100 milliseconds' as at) as time
      returning id, created_at)
    insert into webhook_deliveries (id, event_id, endpoint_id, next_attempt_at, created_at, untaken_type)
    select gen_random_uuid(), id, ${endpointId}, created_at, created_at, 'payment_prompt.created' from event`.execute(
    shop.db,
  );
  await disable();
  expect(await enable()).toMatchObject({ deliveries: 10_000, hasMore: true });
  const left = await shop.db
    .selectFrom('webhook_deliveries')
    .select('created_at')
    .where('endpoint_id', '=', endpointId)
    .where('status', '=', 'cancelled')
    .orderBy('created_at')
    .execute();
  expect(left.map(({ created_at: at }) => at.getTime() - since.getTime())).toEqual([
    1_000_100, 1_000_200, 1_000_300,
  ]);
  expect(await redeliverFailed(shop.operator, endpointId, since)).toEqual({
    deliveries: 3,
    hasMore: false,
  });
});
