import { afterAll, beforeAll, expect, test } from 'vitest';
import { verifyWebhook } from '../../src/client/index.ts';
import { recordEvent } from '../../src/payments/record-event.ts';
import { findMerchant } from '../../src/repositories/merchants.ts';
import { addPayment } from '../helpers/payments.ts';
import { attemptDue } from '../webhooks/attempt-due.ts';
import { type Receiver, startReceiver } from '../webhooks/receiver.ts';
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

async function createMerchant(): Promise<string> {
  const args = ['merchant', 'create', '--name', 'Shop', '--email', 'shop@example.com'];
  return (await service.ask<{ id: string }>(...args)).id;
}

/** Makes the attempts that wait, as a worker does. */
async function deliver(): Promise<void> {
  const { db, clock, keyring } = service;
  await attemptDue({ db, clock, keyring, allowPrivateAddresses: true });
}

test('an endpoint is created, told of an event, rotated and listed', async () => {
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
    `The webhook endpoint ${id} is disabled: Disabled by alice. Create a new one.`,
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
    'webhook.rotate',
    'webhook.disable',
  ]);
  expect(new Set(audit.map(entry => entry.actor))).toEqual(new Set(['alice']));
});

test('the secret is shown once, with a warning', async () => {
  const args = ['webhook', 'create', '--merchant', shop, '--url', receiver.url];
  const { out } = await mpHere(args, service.env);
  expect(out).toMatch(/secret +whsec_/);
  expect(out).toContain('The secret is shown only once: save it now.');
});

test('what cannot be is refused with the reason', async () => {
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
  for (const verb of ['rotate', 'disable', 'deliveries']) {
    expect(await service.refused('webhook', verb, UNKNOWN)).toBe(
      `There is no webhook endpoint ${UNKNOWN}.`,
    );
  }
  expect(await service.refused('webhook', 'redeliver', UNKNOWN)).toBe(
    `There is no delivery ${UNKNOWN}.`,
  );
  const types = await mpHere([...create, receiver.url, '--types', 'payment.created'], service.env);
  expect(types).toMatchObject({ status: 2, out: '' });
});
