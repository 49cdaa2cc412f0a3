import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createEndpoint } from '#payments/webhooks/manage-endpoints.ts';
import { addMerchant, type MerchantWithKey, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { createPrompt } from '../../helpers/prompts.ts';
import { send } from '../../helpers/signed-request.ts';
import { SOON } from '../../helpers/soon.ts';
import {
  type StripeServer,
  signEvent,
  startStripeServer,
} from '../../payments/processors/stripe-server.ts';
import { attemptDue } from '../../payments/webhooks/attempt-due.ts';
import { type Receiver, startReceiver } from '../../payments/webhooks/receiver.ts';
import { addAdmin, ask, BODY } from '../legacy/older-contract.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const HEADERS = { traceparent: `00-${TRACE}-${SPAN}-01`, tracestate: 'rojo=1,congo=2' };
/** What is propagated: the same trace, with a parent that stands for the request. */
const PASSED_ON = new RegExp(`^00-${TRACE}-(?!${SPAN})[0-9a-f]{16}-01$`);

let service: TestApp;
let shop: MerchantWithKey;
let usShop: MerchantWithKey;
let receiver: Receiver;
let stripe: StripeServer;

beforeAll(async () => {
  [receiver, stripe] = await Promise.all([startReceiver(), startStripeServer()]);
  service = await startTestApp({ env: stripe.env });
  shop = await addMerchant(service);
  usShop = await addMerchant(service, { kind: 'us', addresses: {} });
  for (const { merchant } of [shop, usShop]) {
    await createEndpoint(operatorOf(service), service.keyring, {
      merchantId: merchant.id,
      url: receiver.url,
      types: undefined,
      allowPrivateAddresses: true,
    });
  }
});
beforeEach(() => {
  service.logs.length = 0;
  receiver.requests.length = 0;
  stripe.received.length = 0;
});
afterAll(async () => {
  await service.close();
  await Promise.all([receiver.close(), stripe.close()]);
});

/** Attempts every pending delivery. */
async function deliver(): Promise<void> {
  const { db, clock, keyring, app } = service;
  await attemptDue({ db, clock, keyring, logger: app.log, allowPrivateAddresses: true });
}

test('a traced request has its trace in all its log lines, any other request has none', async () => {
  await send(service, shop, { path: '/external/v1/payments', headers: HEADERS });
  await send(service, shop, { path: '/external/v1/payments' });
  const forged = { ...HEADERS, traceparent: `${HEADERS.traceparent}\u00e9` };
  await send(service, shop, { path: '/external/v1/payments', headers: forged });
  await service.app.inject({ url: '/%zz', headers: HEADERS });
  await vi.waitFor(() => expect(service.logs).toHaveLength(4), SOON);
  expect(service.logs.map(({ traceId }) => traceId)).toEqual([TRACE, undefined, undefined, TRACE]);
});

describe('webhooks that a traced request causes carry its trace', () => {
  test.each([
    ['a creation', {}],
    ['a creation under an idempotency key', { 'idempotency-key': 'traced' }],
  ])('%s', async (_name, headers) => {
    await createPrompt(service, shop, { amount: 5000 }, { ...HEADERS, ...headers });
    await deliver();
    expect(receiver.requests).toHaveLength(1);
    expect(receiver.requests[0]?.headers).toMatchObject({
      traceparent: expect.stringMatching(PASSED_ON),
      tracestate: HEADERS.tracestate,
    });
    const attempted = service.logs.find(({ msg }) => msg === 'webhook attempted');
    expect(attempted).toMatchObject({ traceId: TRACE });
  });

  test('a creation by the older contract', async () => {
    const admin = await addAdmin(service, shop.merchant.id);
    const created = await ask(service, admin, { body: BODY, headers: HEADERS });
    expect(created.statusCode, created.body).toBe(201);
    await deliver();
    expect(receiver.requests.map(({ headers }) => headers.traceparent)).toEqual([
      expect.stringMatching(PASSED_ON),
    ]);
  });

  test("a processor's notification", async () => {
    const { prompt } = await createPrompt(service, usShop, { amount: 5000 });
    const { external_id: id } = await service.db
      .selectFrom('payments')
      .select('external_id')
      .where('id', '=', prompt.id)
      .executeTakeFirstOrThrow();
    const { payload, headers } = signEvent({
      type: 'checkout.session.completed',
      session: {
        id,
        payment_status: 'paid',
        amount_total: 5000,
        currency: 'usd',
        metadata: { paymentId: prompt.id },
      },
      signedAt: service.clock(),
    });
    const answer = await service.app.inject({
      method: 'POST',
      url: '/processor/notifications/stripe',
      headers: { ...headers, ...HEADERS },
      payload,
    });
    expect(answer.statusCode, answer.body).toBe(200);
    await deliver();
    const traces = receiver.requests.map(({ event, headers }) => [event.type, headers.traceparent]);
    expect(Object.fromEntries(traces)).toEqual({
      'payment_prompt.created': undefined,
      'payment_prompt.successful': expect.stringMatching(PASSED_ON),
    });
  });

  test('a cancellation by the customer, and not the creation before it', async () => {
    const { checkoutUrl } = await createPrompt(service, shop, { amount: 5000 });
    await service.app.inject({
      method: 'POST',
      url: `${new URL(checkoutUrl).pathname}/cancel`,
      headers: { ...HEADERS, 'content-type': 'application/x-www-form-urlencoded' },
      payload: '',
    });
    await deliver();
    const traces = receiver.requests.map(({ event, headers }) => [event.type, headers.traceparent]);
    expect(Object.fromEntries(traces)).toEqual({
      'payment_prompt.created': undefined,
      'payment_prompt.cancelled': expect.stringMatching(PASSED_ON),
    });
  });

  test('a regulated creation, which calls the processor as well', async () => {
    const key = { 'idempotency-key': 'traced regulated' };
    await createPrompt(service, usShop, { amount: 5000 }, { ...HEADERS, ...key });
    await createPrompt(service, usShop, { amount: 6000 }, HEADERS);
    await deliver();
    expect(stripe.received).toHaveLength(2);
    const passedOn = {
      traceparent: expect.stringMatching(PASSED_ON),
      tracestate: HEADERS.tracestate,
    };
    for (const { headers } of stripe.received) expect(headers).toMatchObject(passedOn);
    // One request is one parent, for all its calls.
    const parents = (requests: readonly { headers: Record<string, unknown> }[]) =>
      requests.map(({ headers }) => String(headers.traceparent)).sort();
    expect(parents(receiver.requests)).toEqual(parents(stripe.received));
  });
});

test('without a trace none is propagated', async () => {
  await createPrompt(service, shop, { amount: 5000 });
  await createPrompt(service, usShop, { amount: 5000 });
  await deliver();
  const sent = [...receiver.requests, ...stripe.received].map(({ headers }) =>
    Object.keys(headers),
  );
  expect(sent).toHaveLength(3);
  for (const names of sent) expect(names).not.toContain('traceparent');
});
