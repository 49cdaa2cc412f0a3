import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { verifyWebhook } from '#client/index.ts';
import { findMerchant } from '#storage/repositories/accounts/merchants.ts';
import { addPayment } from '../helpers/payments.ts';
import { recordEvent } from '../helpers/record-event.ts';
import { attemptDue } from '../payments/webhooks/attempt-due.ts';
import { type Receiver, startReceiver, status } from '../payments/webhooks/receiver.ts';
import { readContract } from '../surfaces/docs/openapi/subject.ts';
import { mpHere, type Operated, startOperated } from './mp.ts';

const UNKNOWN = '01890a5d-ac96-774b-bcce-b302099a8057';

interface Endpoint {
  id: string;
  secret: string;
  url: string;
}

let service: Operated;
let receiver: Receiver;
let shop: string;
beforeAll(async () => {
  [service, receiver] = await Promise.all([startOperated(), startReceiver()]);
  shop = await createMerchant();
});
afterAll(async () => {
  await receiver.close();
  await service.close();
});

beforeEach(() => {
  receiver.answer = status(200);
});

async function createMerchant(): Promise<string> {
  const args = ['merchant', 'create', '--name', 'Shop', '--email', 'shop@example.com'];
  return (await service.ask<{ id: string }>(...args)).id;
}

/** Makes the pending attempts, like a worker. */
async function deliver(): Promise<void> {
  const { db, clock, keyring } = service;
  await attemptDue({ db, clock, keyring, allowPrivateAddresses: true });
}

test('an endpoint is created, gets an event, is rotated and listed', async () => {
  const created = await service.ask<Endpoint>(
    ...['webhook', 'create', '--merchant', shop, '--url', receiver.url],
    ...['--types', 'payment_prompt.created,payment_prompt.successful'],
  );
  const { id, secret, ...rest } = created;
  expect(secret).toMatch(/^whsec_/);
  expect(Object.keys(created).slice(0, 2)).toEqual(['id', 'secret']);
  expect(rest).toMatchObject({
    merchantId: shop,
    url: receiver.url,
    types: ['payment_prompt.created', 'payment_prompt.successful'],
    status: 'enabled',
  });

  const merchant = await findMerchant(service.db, shop);
  if (merchant === undefined) throw new Error('no merchant');
  const now = new Date();
  const payment = await addPayment(service.db, merchant, { created_at: now });
  await recordEvent(service.db, 'payment_prompt.created', payment, now);
  await deliver();
  const [request] = receiver.requests;
  if (request === undefined) throw new Error('nothing came');
  expect(verifyWebhook({ ...request, secret }).data.id).toBe(payment.id);

  const [delivery] = await service.ask<{ id: string }[]>('webhook', 'deliveries', id);
  expect(delivery).toMatchObject({
    endpointId: id,
    eventId: request.event.id,
    eventType: 'payment_prompt.created',
    status: 'succeeded',
    attempts: 1,
    lastResult: 'HTTP 200',
    log: [{ number: 1, statusCode: 200, error: null, responseExcerpt: '' }],
  });
  const again = await service.ask('webhook', 'redeliver', delivery?.id ?? '');
  expect(again).toMatchObject({ redeliveryOf: delivery?.id, status: 'pending', attempts: 0 });
  await deliver();
  expect(receiver.requests).toHaveLength(2);
  const failed = ['webhook', 'redeliver-failed', id, '--since', '2026-01-01'];
  expect(await service.ask(...failed)).toEqual({ deliveries: 0, hasMore: false });
  const limited = ['webhook', 'deliveries', id, '--limit', '1'];
  expect(await service.ask(...limited)).toHaveLength(1);

  const rotated = await service.ask<Endpoint>('webhook', 'rotate', id);
  expect(rotated).toMatchObject({ id, previousSecretUntil: expect.any(String) });
  expect(rotated.secret).not.toBe(secret);
  const other = await createMerchant();
  await service.ask('webhook', 'create', '--merchant', other, '--url', 'https://a.example/');
  expect(await service.ask('webhook', 'list', '--merchant', shop)).toMatchObject([{ id }]);
  expect(await service.ask('webhook', 'list')).toMatchObject([
    { merchantId: other, types: ['all'] },
    { merchantId: shop },
  ]);
  const { out } = await mpHere(['webhook', 'list', '--limit', '1'], service.env);
  expect(out).toContain('There may be more: --before ');
  expect(out).not.toContain('whsec_');

  const disabled = await service.ask('webhook', 'disable', id);
  expect(disabled).toMatchObject({ status: 'disabled', disabledReason: 'Disabled by alice.' });
  expect(await service.refused('webhook', 'rotate', id)).toBe(
    `The webhook endpoint ${id} is disabled: Disabled by alice. Enable it first.`,
  );
  const audit = await service.db
    .selectFrom('audit_log')
    .select(['action', 'actor'])
    .where('object_id', '=', id)
    .orderBy('at')
    .orderBy('id')
    .execute();
  expect(audit.map(entry => entry.action)).toEqual([
    'webhook.create',
    'webhook.redeliver',
    'webhook.redeliver-failed',
    'webhook.rotate',
    'webhook.disable',
  ]);
  expect(new Set(audit.map(entry => entry.actor))).toEqual(new Set(['alice']));
});

describe('mp webhook set, enable and disable', () => {
  const tell = async (merchantId: string) => {
    const merchant = await findMerchant(service.db, merchantId);
    if (merchant === undefined) throw new Error('no merchant');
    const now = new Date();
    const payment = await addPayment(service.db, merchant, { created_at: now });
    await recordEvent(service.db, 'payment_prompt.created', payment, now);
    return payment.id;
  };
  const receivedAt = (path: string) =>
    receiver.requests.filter(request => request.path === path).map(({ event }) => event.data.id);

  test('pending deliveries go to the new URL, and types apply from now on', async () => {
    const merchant = await createMerchant();
    const { origin } = new URL(receiver.url);
    const create = ['webhook', 'create', '--merchant', merchant, '--url', `${origin}/old`];
    const { id } = await service.ask<Endpoint>(...create, '--types', 'payment_prompt.created');
    const payment = await tell(merchant);
    const moved = await service.ask('webhook', 'set', id, '--url', `${origin}/new?token=s3cret`);
    expect(moved).toMatchObject({ id, url: `${origin}/new?token=s3cret`, status: 'enabled' });
    await deliver();
    expect([receivedAt('/old'), receivedAt('/new?token=s3cret')]).toEqual([[], [payment]]);

    const narrow = await service.ask('webhook', 'set', id, '--types', 'payment_prompt.successful');
    expect(narrow).toMatchObject({ types: ['payment_prompt.successful'] });
    await tell(merchant);
    expect(await service.ask('webhook', 'set', id, '--types', 'all')).toMatchObject({
      types: ['all'],
    });
    const last = await tell(merchant);
    await deliver();
    expect(receivedAt('/new?token=s3cret')).toEqual([payment, last]);
    const both = ['all', 'payment_prompt.deposit_unmatched'];
    expect(await service.ask('webhook', 'set', id, '--types', both.join())).toMatchObject({
      types: both,
    });
    expect(await service.ask('audit', '--object', id, '--limit', '4')).toMatchObject([
      { action: 'webhook.set', detail: { types: both } },
      { action: 'webhook.set', detail: { types: ['all'] } },
      { action: 'webhook.set', detail: { types: ['payment_prompt.successful'] } },
      { action: 'webhook.set', detail: { origin } },
    ]);
    expect(await mpHere(['audit', '--json'], service.env)).not.toMatchObject({
      out: expect.stringContaining('s3cret'),
    });
  });

  test('all types and a single one of payment events exclude each other', async () => {
    const merchant = await createMerchant();
    const { origin } = new URL(receiver.url);
    const create = ['webhook', 'create', '--merchant', merchant, '--url', `${origin}/mixed`];
    const mixed = 'payment_prompt.created,all';
    const message = 'Choose either every event of a payment (all) or single types of them.';
    expect(await service.refused(...create, '--types', mixed)).toBe(message);
    expect(await service.ask('webhook', 'list', '--merchant', merchant)).toEqual([]);
    const { id } = await service.ask<Endpoint>(...create);
    expect(await service.refused('webhook', 'set', id, '--types', mixed)).toBe(message);
  });

  test('an endpoint that is enabled again gets what was cancelled and later events', async () => {
    const merchant = await createMerchant();
    const { origin } = new URL(receiver.url);
    const create = ['webhook', 'create', '--merchant', merchant, '--url', `${origin}/again`];
    const { id } = await service.ask<Endpoint>(...create);
    const waiting = await tell(merchant);
    await service.ask('webhook', 'disable', id);
    await tell(merchant);
    expect(await service.ask('webhook', 'enable', id)).toMatchObject({
      id,
      status: 'enabled',
      disabledAt: null,
      disabledReason: null,
      deliveries: 1,
      hasMore: false,
    });
    const payment = await tell(merchant);
    await deliver();
    expect(receivedAt('/again')).toEqual([waiting, payment]);
    expect(await service.refused('webhook', 'enable', id)).toBe(
      `The webhook endpoint ${id} is enabled already.`,
    );
  });
});

describe('mp webhook test', () => {
  test('sends a signed event of no payment once, and prints the response', async () => {
    const merchant = await createMerchant();
    const { origin } = new URL(receiver.url);
    const create = ['webhook', 'create', '--merchant', merchant, '--url', `${origin}/test`];
    const { id, secret, url } = await service.ask<Endpoint>(...create);
    receiver.answer = status(200, {}, 'Thanks!\n');
    const results = [
      await service.ask<{ eventId: string }>('webhook', 'test', id),
      await service.ask<{ eventId: string }>('webhook', 'test', id),
    ];
    for (const result of results) {
      expect(result).toEqual({
        endpointId: id,
        url,
        statusCode: 200,
        error: null,
        responseExcerpt: 'Thanks!\n',
        eventId: expect.stringMatching(/^00000000-0000-8000-8000-[0-9a-f]{12}$/),
        durationMs: expect.any(Number),
      });
    }
    const requests = receiver.requests.filter(({ path }) => path === '/test');
    const events = requests.map(request => verifyWebhook({ ...request, secret }));
    expect(events.map(event => event.id)).toEqual(results.map(({ eventId }) => eventId));
    expect(new Set(events.map(event => event.id)).size).toBe(2);
    const contract = await readContract(service);
    for (const event of events) {
      contract.expectFit(event, '/components/schemas/Event');
      expect(event).toMatchObject({
        type: 'payment_prompt.created',
        object: 'event',
        data: { id: '00000000-0000-8000-8000-000000000000', customerReferenceId: 'test' },
      });
    }
    expect(await service.ask('webhook', 'deliveries', id)).toEqual([]);
    await deliver();
    expect(receiver.requests.filter(({ path }) => path === '/test')).toHaveLength(2);
  });

  test('fails when the endpoint does not accept it, also when it is disabled', async () => {
    const merchant = await createMerchant();
    const { origin } = new URL(receiver.url);
    const create = ['webhook', 'create', '--merchant', merchant, '--url', `${origin}/test`];
    const { id } = await service.ask<Endpoint>(...create);
    await service.ask('webhook', 'disable', id);
    receiver.answer = status(500, {}, 'no\u001b[2J\nroute');
    const refused = await mpHere(['webhook', 'test', id], service.env);
    expect(refused).toMatchObject({ status: 1, err: '' });
    expect(refused.out).toMatch(/\nstatusCode +500\n/);
    expect(refused.out).toContain('no\\u001b[2J\\nroute');
    expect(refused.out).toContain('Not received: only a response of 2xx counts.');
    receiver.answer = status(307, { location: 'https://www.shop.example/hooks' });
    const moved = await mpHere(['webhook', 'test', id], service.env);
    expect(moved.status).toBe(1);
    expect(moved.out).toContain('Not received: redirects are not followed. Use the URL');
    await service.ask('webhook', 'set', id, '--url', 'http://127.0.0.1:9/');
    const lost = await mpHere(['webhook', 'test', id, '--json'], service.env);
    expect(lost.status).toBe(1);
    expect(JSON.parse(lost.out)).toMatchObject({
      statusCode: null,
      error: expect.stringContaining('ECONNREFUSED'),
    });
  });

  test('sends it to a URL as well, without an endpoint or a database', async () => {
    receiver.requests.length = 0;
    receiver.answer = status(200, {}, 'Thanks!');
    const args = ['webhook', 'test', '--url', receiver.url];
    const sent = await mpHere([...args, '--json']);
    expect({ status: sent.status, err: sent.err }).toEqual({ status: 0, err: '' });
    const { secret, ...result } = JSON.parse(sent.out);
    const [request = { headers: {}, body: '' }] = receiver.requests;
    expect(result).toEqual({
      url: receiver.url,
      statusCode: 200,
      error: null,
      responseExcerpt: 'Thanks!',
      eventId: verifyWebhook({ ...request, secret }).id,
      durationMs: expect.any(Number),
    });
    const own = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    receiver.answer = status(404);
    const refused = await mpHere(args, { WEBHOOK_SECRET: own });
    expect(refused).toMatchObject({ status: 1, err: '' });
    expect(refused.out).toContain('Not received: only a response of 2xx counts.');
    const last = receiver.requests[1] ?? { headers: {}, body: '' };
    expect(verifyWebhook({ ...last, secret: own }).type).toBe('payment_prompt.created');
    expect(await mpHere(args, { NODE_ENV: 'production' })).toMatchObject({
      status: 1,
      err: 'In production a test goes to an endpoint: give its ID.\n',
    });
    expect(receiver.requests).toHaveLength(2);
  });

  test('never connects to a private address in production', async () => {
    const merchant = await createMerchant();
    const create = ['webhook', 'create', '--merchant', merchant, '--url'];
    const { id } = await service.ask<Endpoint>(...create, receiver.url);
    const before = receiver.requests.length;
    const production = { ...service.env, NODE_ENV: 'production', SIMULATION: '' };
    const { status: code, out } = await mpHere(['webhook', 'test', id, '--json'], production);
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ statusCode: null, error: 'the URL is not https' });
    const url = 'https://localhost/';
    const endpoints = service.db.updateTable('webhook_endpoints').set({ url });
    await endpoints.where('id', '=', id).execute();
    const named = await mpHere(['webhook', 'test', id, '--json'], production);
    expect(JSON.parse(named.out)).toMatchObject({
      error: 'localhost is not at a public address (127.0.0.1, ::1)',
    });
    expect(receiver.requests).toHaveLength(before);
  });
});

test('the secret is shown once, with a warning', async () => {
  const args = ['webhook', 'create', '--merchant', shop, '--url', receiver.url];
  const { out } = await mpHere(args, service.env);
  expect(out).toMatch(/secret +whsec_/);
  expect(out).toContain('The secret is shown only once: save it now.');
});

test('impossible input is refused with the reason', async () => {
  const create = ['webhook', 'create', '--merchant', shop, '--url'];
  const production = { ...service.env, NODE_ENV: 'production', SIMULATION: '' };
  expect(await mpHere([...create, receiver.url], production)).toMatchObject({
    status: 1,
    err: 'The URL is refused: it has to begin with https://.\n',
  });
  expect(await mpHere([...create, 'https://127.1/'], production)).toMatchObject({
    status: 1,
    err: 'The URL is refused: 127.0.0.1 is not a public address.\n',
  });
  expect(await service.refused('webhook', 'list', '--merchant', UNKNOWN)).toBe(
    `There is no merchant ${UNKNOWN}.`,
  );
  const set = ['set', '--types', 'all'];
  const again = ['redeliver-failed', '--since', '2026-01-01'];
  for (const verb of [['rotate'], ['disable'], ['enable'], ['test'], ['deliveries'], set, again]) {
    expect(await service.refused('webhook', ...verb, UNKNOWN)).toBe(
      `There is no webhook endpoint ${UNKNOWN}.`,
    );
  }
  expect(await service.refused('webhook', 'redeliver', UNKNOWN)).toBe(
    `There is no delivery ${UNKNOWN}.`,
  );
  const types = await mpHere([...create, receiver.url, '--types', 'payment.created'], service.env);
  expect(types).toMatchObject({ status: 2, out: '' });
});
