import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newEvent } from '#payments/new-event.ts';
import { createEndpoint } from '#payments/webhooks/manage-endpoints.ts';
import { redeliver } from '#payments/webhooks/redeliver.ts';
import { insertEvent } from '#storage/repositories/payments/events.ts';
import { addKey, addMerchant, type MerchantWithKey, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { addPayment } from '../../helpers/payments.ts';
import { createPrompt } from '../../helpers/prompts.ts';
import { expectRefusal } from '../../helpers/refusal.ts';
import { send } from '../../helpers/signed-request.ts';
import { attemptDue } from '../../payments/webhooks/attempt-due.ts';
import { type Receiver, startReceiver, status } from '../../payments/webhooks/receiver.ts';

const BASE = '/external/v1/events';
/** As configured by default. */
const RETENTION_DAYS = 90;

let service: TestApp;
let shop: MerchantWithKey;
let other: MerchantWithKey;
let receiver: Receiver;
let endpointId: string;

beforeAll(async () => {
  service = await startTestApp();
  shop = await addMerchant(service);
  other = await addMerchant(service);
  receiver = await startReceiver(status(503, {}, 'closed'));
  const issued = await createEndpoint(operatorOf(service), service.keyring, {
    merchantId: shop.merchant.id,
    url: receiver.url,
    allowPrivateAddresses: true,
  });
  endpointId = issued.endpoint.id;
});
afterAll(async () => {
  await receiver.close();
  await service.close();
});

const get = (path: string, key = shop) => send(service, key, { path: BASE + path });
const attempt = () =>
  attemptDue(
    {
      db: service.db,
      clock: service.clock,
      keyring: service.keyring,
      allowPrivateAddresses: true,
    },
    [endpointId],
  );

describe('an event', () => {
  test('is what its webhook carried, byte by byte, with the state of its deliveries', async () => {
    const { prompt } = await createPrompt(service, shop, {
      amount: 1234,
      customerReferenceId: 'Bestellung „ü“ \u2028 / "quoted"',
    });
    await attempt();
    const [request] = receiver.requests.splice(0);
    const list = await get(`?paymentId=${prompt.id}`);
    expect(list.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(list.body).toContain(`[${request?.body.slice(0, -1)},"deliveries":[`);
    const [event] = list.json().data;
    expect(event).toMatchObject({ type: 'payment_prompt.created', data: { id: prompt.id } });
    expect(event.deliveries).toEqual([
      {
        id: expect.any(String),
        endpointId,
        status: 'pending',
        redeliveryOf: null,
        createdAt: event.createdAt,
        nextAttemptAt: expect.any(String),
        attempts: [
          {
            at: new Date(service.clock()).toISOString(),
            durationMs: expect.any(Number),
            statusCode: 503,
            error: null,
          },
        ],
      },
    ]);
    const one = await get(`/${event.id}`);
    expect(list.body).toContain(one.body);
  });

  test('is undelivered until its endpoint has accepted it, also by hand', async () => {
    const { prompt } = await createPrompt(service, shop, { amount: 500 });
    const undelivered = async () =>
      (await get(`?paymentId=${prompt.id}&delivered=false`)).json().data;
    const [event] = await undelivered();
    await sql`
      update webhook_deliveries set status = 'failed', finished_at = now(), next_attempt_at = null
      where event_id = ${event.id}`.execute(service.db);
    const [{ deliveries }] = await undelivered();
    expect(deliveries[0]).toMatchObject({ status: 'failed', nextAttemptAt: null });
    await redeliver(operatorOf(service), deliveries[0].id);
    expect(await undelivered()).toHaveLength(1);
    receiver.answer = status(200);
    await attempt();
    expect(await undelivered()).toEqual([]);
    const [taken] = (await get(`?paymentId=${prompt.id}`)).json().data;
    expect(taken.deliveries.map((each: { status: string }) => each.status)).toEqual([
      'succeeded',
      'failed',
    ]);
    expect(taken.deliveries[0].redeliveryOf).toBe(taken.deliveries[1].id);
  });

  test('of another merchant looks like a missing one, as a cursor too', async () => {
    const { prompt } = await createPrompt(service, other, { amount: 500 });
    const [event] = (await get('', other)).json().data;
    expect(event.deliveries).toEqual([]);
    const missing = uuidv7();
    const refusals: string[] = [];
    for (const path of [`/${event.id}`, `/${missing}`]) {
      const answer = await get(path);
      const { requestId } = expectRefusal(answer, 'E3001');
      refusals.push(answer.body.replace(requestId, ''));
    }
    expect(refusals[0]).toBe(refusals[1]);
    expect((await get(`?paymentId=${prompt.id}`)).json().data).toEqual([]);
    for (const cursor of ['startingAfter', 'endingBefore']) {
      for (const id of [event.id, missing]) {
        expectRefusal(await get(`?${cursor}=${id}`), 'E3001', cursor);
        expectRefusal(await get(`?${cursor}=${id}&delivered=false`), 'E3001', cursor);
      }
    }
  });
});

test('a cursor that has been removed since still marks its place in the list', async () => {
  const { merchant, ...key } = await addMerchant(service);
  const payment = await addPayment(service.db, merchant, { created_at: new Date(service.clock()) });
  const ids: string[] = [];
  // Minutes apart, around the end of the retention period.
  for (const minutes of [0, 5, 10, 15, 20]) {
    const at = service.clock() - RETENTION_DAYS * 86_400_000 + (minutes - 12) * 60_000;
    const id = uuidv7({ msecs: at + 40 });
    const event = newEvent('payment_prompt.created', payment, new Date(at));
    await insertEvent(service.db, { ...event, id });
    ids.push(id);
  }
  const [waiting = '', cursor = '', , kept = ''] = ids;
  const list = async (query: string) => {
    const response = await get(query, { merchant, ...key });
    expect([query, response.statusCode]).toEqual([query, 200]);
    return response.json().data.map((event: { id: string }) => event.id);
  };
  const remove = (id: string) => service.db.deleteFrom('events').where('id', '=', id).execute();
  expect(await list('?order=oldest&limit=2')).toEqual(ids.slice(0, 2));
  // The event before it stays, as if one of its deliveries were pending.
  await remove(cursor);
  expect(await list(`?order=oldest&startingAfter=${cursor}`)).toEqual(ids.slice(2));
  expect(await list(`?endingBefore=${cursor}`)).toEqual(ids.slice(2).toReversed());
  expect(await list(`?startingAfter=${cursor}`)).toEqual([waiting]);
  expect(await list(`?order=oldest&delivered=false&startingAfter=${cursor}`)).toEqual([]);
  await remove(kept);
  const refused = await get(`?startingAfter=${kept}`, { merchant, ...key });
  expectRefusal(refused, 'E3001', 'startingAfter');
});

test('refuses what it does not know', async () => {
  const id = uuidv7();
  expectRefusal(await get(`?startingAfter=${id}&endingBefore=${id}`), 'E1001', 'endingBefore');
  expectRefusal(await get('?type=payment_prompt.paid'), 'E1001', 'type');
  expectRefusal(await get('?delivered=true'), 'E1001', 'delivered');
  expectRefusal(await get('?order=asc'), 'E1001', 'order');
  expectRefusal(await get('?paymentId=1'), 'E1001', 'paymentId');
  expectRefusal(await get('?endDate=tomorrow'), 'E1001', 'endDate');
  expectRefusal(await get('?status=pending'), 'E1002', 'status');
  expectRefusal(await get('/1'), 'E1001', 'id');
  const { merchant } = shop;
  const writer = await addKey(
    service,
    { merchantId: merchant.id },
    { scopes: ['payment_prompts:write'] },
  );
  expectRefusal(await send(service, writer, { path: BASE }), 'E2101');
});
