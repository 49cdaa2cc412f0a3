import { afterAll, beforeAll, expect, test } from 'vitest';
import { findPayment } from '#storage/repositories/payments/payments.ts';
import { addMerchant, addPartner, type MerchantWithKey } from '../helpers/accounts.ts';
import { recordEvent } from '../helpers/record-event.ts';
import { send } from '../helpers/signed-request.ts';
import { attemptDue } from '../payments/webhooks/attempt-due.ts';
import { type Receiver, startReceiver, status } from '../payments/webhooks/receiver.ts';
import { mpHere, type Operated, startOperated } from './mp.ts';

const UNKNOWN = '01890a5d-ac96-774b-bcce-b302099a8057';

interface Entry {
  at: string;
  kind: string;
  id: string;
  what: string;
}

let service: Operated;
let receiver: Receiver;
let shop: MerchantWithKey;
beforeAll(async () => {
  [service, receiver] = await Promise.all([startOperated(), startReceiver()]);
  shop = await addMerchant(service);
});
afterAll(async () => {
  await receiver.close();
  await service.close();
});

async function createPayment(): Promise<string> {
  const body = { amount: 5000 };
  const response = await send(service, shop, { path: '/external/v1/payments/prompt', body });
  return response.json().prompt.id;
}

/** Makes all pending attempts, like a worker. */
async function deliver(): Promise<void> {
  const { db, clock, keyring } = service;
  await attemptDue({ db, clock, keyring, allowPrivateAddresses: true });
}

test('shows all that happened to a payment in the order of time', async () => {
  const types = 'payment_prompt.created,payment_prompt.successful';
  const { id: endpoint } = await service.ask<{ id: string }>(
    ...['webhook', 'create', '--merchant', shop.merchant.id],
    ...['--url', receiver.url, '--types', types],
  );
  const id = await createPayment();
  const other = await createPayment();
  const play = ['payment', 'simulate', id, '--network', 'eth', '--case'];
  await service.ask(...play, 'detect');
  await service.ask(...play, 'confirm');
  receiver.answer = status(500);
  await deliver();
  receiver.answer = status(204);
  await deliver();
  const deliveries = await service.ask<{ id: string; eventType: string; eventId: string }[]>(
    ...['webhook', 'deliveries', endpoint],
  );
  const { rows } = await historyOf(id);
  const created = rows.find(({ what }) => what === 'payment_prompt.created');
  const first = deliveries.find(({ eventId }) => eventId === created?.id);
  await service.ask('webhook', 'redeliver', first?.id ?? '');

  const { rows: entries, lines } = await historyOf(id);
  expect(entries.map(({ at }) => at)).toEqual(entries.map(({ at }) => at).toSorted());
  const amount = /^[\d.]+ ETH, exact, final since \S+Z, eth 0x[0-9a-f]{64}:0$/;
  const to = `to ${receiver.url}`;
  const expected: [kind: string, what: string | RegExp][] = [
    ['created', `5000 cents, crypto, by ${shop.keyId}`],
    ['event', 'payment_prompt.created'],
    ['delivery', `payment_prompt.created ${to}: succeeded, 2 attempts`],
    ['deposit', amount],
    ['transition', /^pending\/pending to pending\/completed, by simulation: \S/],
    ['event', 'payment_prompt.detected'],
    ['transition', /^pending\/completed to successful\/completed, by simulation: \S/],
    ['event', 'payment_prompt.successful'],
    ['delivery', `payment_prompt.successful ${to}: succeeded, 2 attempts`],
    ['attempt', /^payment_prompt\.created to \S+, number 1: HTTP 500 in \d+ ms$/],
    ['attempt', /^payment_prompt\.successful to \S+, number 1: HTTP 500 in \d+ ms$/],
    ['attempt', /^payment_prompt\.created to \S+, number 2: HTTP 204 in \d+ ms$/],
    ['attempt', /^payment_prompt\.successful to \S+, number 2: HTTP 204 in \d+ ms$/],
    [
      'delivery',
      /^payment_prompt\.created to \S+, redelivered by hand: pending, 0 attempts, next at \S+Z$/,
    ],
  ];
  expect(entries).toEqual(
    expected.map(([kind, what]) => ({
      at: expect.stringMatching(/Z$/),
      kind,
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      what: what instanceof RegExp ? expect.stringMatching(what) : what,
    })),
  );
  expect(lines[0]).toMatch(/^at +kind +what +id$/);
  expect(lines).toHaveLength(1 + expected.length);
  expect(lines[1]).toMatch(/^\S+Z {2}created +5000 cents, crypto, by \S+ +[0-9a-f-]{36}$/);

  const { rows: others } = await historyOf(other);
  expect(others.map(({ kind }) => kind)).toEqual([
    ...['created', 'event', 'delivery', 'attempt', 'attempt'],
  ]);
});

async function historyOf(id: string): Promise<{ rows: Entry[]; lines: string[] }> {
  const rows = await service.ask<Entry[]>('payment', 'history', id);
  const { out } = await mpHere(['payment', 'history', id], service.env);
  return { rows, lines: out.trimEnd().split('\n') };
}

test('orders simultaneous entries by cause', async () => {
  const id = await createPayment();
  const payment = await findPayment(service.db, id);
  if (payment === undefined) throw new Error('no payment');
  await recordEvent(service.db, 'payment_prompt.expired', payment, payment.created_at);
  const { rows } = await historyOf(id);
  const atOnce = rows.filter(({ at }) => at === payment.created_at.toISOString());
  expect(atOnce.slice(0, 3).map(({ kind }) => kind)).toEqual(['created', 'event', 'event']);
});

test('shows a payment at a processor, and refuses a missing one', async () => {
  const { partner } = await addPartner(service);
  const us = await addMerchant(service, { kind: 'us', partnerId: partner.id });
  const body = { amount: 700 };
  const response = await send(service, us, { path: '/external/v1/payments/prompt', body });
  const { rows } = await historyOf(response.json().prompt.id);
  expect(rows.map(({ what }) => what)).toEqual([
    `700 cents, regulated, by ${us.keyId}`,
    'payment_prompt.created',
  ]);
  expect(await service.refused('payment', 'history', UNKNOWN)).toBe(
    `There is no payment ${UNKNOWN}.`,
  );
});
