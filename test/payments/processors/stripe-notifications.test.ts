import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { expirePayments } from '#onchain/settlement/expire-on-chain.ts';
import { STRIPE_EVENTS } from '#payments/processors/stripe-notification.ts';
import { addMerchant, addPartner, type MerchantWithKey } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { createPrompt, expectRefusal } from '../../helpers/prompts.ts';
import { send } from '../../helpers/signed-request.ts';
import { eventsOf, logged, readPayment } from './payment-history.ts';
import { type StripeServer, signBody, signEvent, startStripeServer } from './stripe-server.ts';

const PATH = '/processor/notifications/stripe';
const COMPLETED = 'checkout.session.completed';
const SUCCEEDED = 'checkout.session.async_payment_succeeded';
const FAILED = 'checkout.session.async_payment_failed';
const EXPIRED = 'checkout.session.expired';

let stripe: StripeServer;
let service: TestApp;
let shop: MerchantWithKey;

beforeAll(async () => {
  stripe = await startStripeServer();
  service = await startTestApp({ env: stripe.env });
  shop = await addMerchant(service, { kind: 'us', addresses: {}, commissionBps: 150 });
});
beforeEach(() => {
  service.logs.length = 0;
});
afterAll(async () => {
  await service.close();
  await stripe.close();
});

/** A pending payment and its session at Stripe. */
async function createPayment(amount = 5_033) {
  const { prompt, checkoutUrl } = await createPrompt(service, shop, { amount });
  const session = {
    id: checkoutUrl.replace(/^.*\/(.*)#fid$/, '$1'),
    amount_total: amount,
    currency: 'usd',
    metadata: { paymentId: prompt.id },
    payment_intent: `pi_${prompt.id.replaceAll('-', '')}`,
    payment_status: 'unpaid',
  };
  return { id: prompt.id, session };
}

function notify(
  type: string,
  session: Record<string, unknown>,
  options: { secret?: string; livemode?: boolean; signedAt?: number; path?: string } = {},
) {
  const { path = PATH, signedAt = service.clock(), ...forged } = options;
  return deliver(signEvent({ type, session, signedAt, ...forged }), path);
}

function deliver({ payload, headers }: ReturnType<typeof signEvent>, path = PATH) {
  return service.app.inject({ method: 'POST', url: path, payload, headers });
}

async function accepts(type: string, session: Record<string, unknown>): Promise<void> {
  const response = await notify(type, session);
  expect(response.statusCode, response.body).toBe(200);
  expect(response.json()).toEqual({ received: true });
}

const read = (id: string) => readPayment(service, shop, id);

describe('a payment', () => {
  test('is seen, then settled: reference, time and commission are filled, the rest stays null', async () => {
    const { id, session } = await createPayment();
    await accepts(COMPLETED, session);
    expect(await read(id)).toMatchObject({
      status: 'pending',
      sessionStatus: 'completed',
      commissionAmount: null,
      transactionHash: null,
      paidAt: null,
    });
    service.clock.now += 60_000;
    await accepts(SUCCEEDED, { ...session, payment_status: 'paid' });
    expect(await read(id)).toMatchObject({
      status: 'successful',
      sessionStatus: 'completed',
      // 1.5 % of 5033 is 75.495.
      commissionAmount: 75,
      transactionHash: session.payment_intent,
      paidAt: new Date(service.clock.now).toISOString(),
      settlementModel: null,
      blockchainId: null,
      tokenAmount: null,
      lastError: null,
      cancellationReason: null,
    });
    expect(await eventsOf(service, id)).toEqual(['created', 'detected', 'successful']);
    const history = await service.db
      .selectFrom('payment_transitions')
      .select(['actor', 'reason'])
      .where('payment_id', '=', id)
      .orderBy('id')
      .execute();
    expect(history).toEqual([
      { actor: 'stripe', reason: expect.stringMatching(/^seen by notification evt_/) },
      { actor: 'stripe', reason: expect.stringMatching(/^settled by notification evt_/) },
    ]);
  });

  test('that is paid at once is settled at once, its commission rounded half up', async () => {
    const { id, session } = await createPayment(1_700);
    await accepts(COMPLETED, { ...session, payment_status: 'paid' });
    expect(await read(id)).toMatchObject({ status: 'successful', commissionAmount: 26 });
    expect(await eventsOf(service, id)).toEqual(['created', 'successful']);
  });

  test('that fails shows why', async () => {
    const { id, session } = await createPayment();
    await accepts(COMPLETED, session);
    await accepts(FAILED, session);
    expect(await read(id)).toMatchObject({
      status: 'unsuccessful',
      sessionStatus: 'completed',
      transactionHash: null,
      commissionAmount: null,
      lastError: {
        code: 'payment_failed',
        message: expect.stringMatching(/\S/),
        occurredAt: new Date(service.clock.now).toISOString(),
      },
    });
    expect(await eventsOf(service, id)).toEqual(['created', 'detected', 'unsuccessful']);
  });

  test('whose session ends expires', async () => {
    const { id, session } = await createPayment();
    await accepts(EXPIRED, session);
    expect(await read(id)).toMatchObject({ status: 'expired', sessionStatus: 'expired' });
    expect(await eventsOf(service, id)).toEqual(['created', 'expired']);
  });

  test('shows the processor in partner reports, and its reference in events', async () => {
    const partner = await addPartner(service);
    const us = await addMerchant(service, { kind: 'us', partnerId: partner.partner.id });
    const { prompt } = await createPrompt(service, us, { amount: 5000 });
    const report = await send(service, partner, {
      path: `/external/partner/payments/${prompt.id}`,
    });
    expect(report.json()).toMatchObject({
      flow: 'regulated',
      paymentSystem: 'stripe',
      address: null,
      blockchainId: null,
    });
    const { data } = await service.db
      .selectFrom('events')
      .select('data')
      .where('payment_id', '=', prompt.id)
      .executeTakeFirstOrThrow();
    expect(data).toMatchObject({ externalId: expect.stringMatching(/^cs_test_/) });
  });
});

describe('nothing changes for', () => {
  /** Everything that could have changed. */
  async function stateOf(id: string) {
    return { payment: await read(id), events: await eventsOf(service, id) };
  }

  test.each([
    ['another secret', { secret: 'whsec_forged' }],
    ['a signature of 301 seconds ago', { signedAt: Date.UTC(2026, 4, 17, 12) - 301_000 }],
  ])('%s', async (_what, forgery) => {
    service.clock.now = Date.UTC(2026, 4, 17, 12);
    const { id, session } = await createPayment();
    const before = await stateOf(id);
    const paid = { ...session, payment_status: 'paid' };
    expectRefusal(await notify(COMPLETED, paid, forgery), 'E2007');
    expect(await stateOf(id)).toEqual(before);
    expect(logged(service, 'warn')).toEqual(['processor notification refused']);
  });

  test('a changed body, a missing signature, an empty body, another processor', async () => {
    const { id, session } = await createPayment();
    const before = await stateOf(id);
    const signed = signEvent({ type: COMPLETED, session, signedAt: service.clock() });
    const changed = signed.payload.replace('"unpaid"', '"paid"');
    expectRefusal(await deliver({ ...signed, payload: changed }), 'E2007');
    expectRefusal(await deliver({ ...signed, payload: '' }), 'E2007');
    expectRefusal(await deliver({ ...signed, headers: {} }), 'E2007');
    expectRefusal(await deliver(signed, '/processor/notifications/sandbox'), 'E3001');
    expectRefusal(await deliver({ ...signed, payload: 'x'.repeat(70_000) }), 'E1000');
    expect(await stateOf(id)).toEqual(before);
  });

  test.each([
    'null',
    '5',
    '"text"',
    '[]',
    '{}',
    'no JSON',
    '{"type":"checkout.session.completed","livemode":false}',
    '{"type":"checkout.session.completed","livemode":false,"data":null}',
    '{"type":"checkout.session.completed","livemode":false,"data":{"object":null}}',
  ])('what Stripe has signed but is no event: %s', async payload => {
    expectRefusal(await deliver(signBody(payload, { signedAt: service.clock() })), 'E2007');
    expect(logged(service, 'error')).toEqual([]);
  });

  test('a signature that is 300 seconds old is still valid', async () => {
    const { id, session } = await createPayment();
    const signedAt = service.clock() - 300_000;
    expect((await notify(COMPLETED, session, { signedAt })).statusCode).toBe(200);
    expect((await read(id)).sessionStatus).toBe('completed');
  });

  test('an event of live mode, when the key is of test mode', async () => {
    const { id, session } = await createPayment();
    const before = await stateOf(id);
    expectRefusal(await notify(COMPLETED, session, { livemode: true }), 'E2007');
    expect(await stateOf(id)).toEqual(before);
    expect(service.logs.find(({ level }) => level === 'warn')).toMatchObject({
      msg: 'processor notification refused',
      reason: 'the event is of live mode, which the secret key is not',
    });
  });

  test.each([
    ['amount', { amount_total: 5_032 }],
    ['missing amount', { amount_total: null }],
    ['currency', { currency: 'eur' }],
  ])('a wrong %s, which is logged for an operator', async (_what, wrong) => {
    const { id, session } = await createPayment();
    const before = await stateOf(id);
    const paid = { ...session, payment_status: 'paid', ...wrong };
    expectRefusal(await notify(COMPLETED, paid), 'E1040');
    expect(await stateOf(id)).toEqual(before);
    expect(logged(service, 'error')).toEqual([
      'processor notification differs from the payment in amount or currency: check both',
    ]);
    expect(service.logs.find(({ level }) => level === 'error')).toMatchObject({
      paymentId: id,
      amount: 5_033,
      notification: { externalId: session.id },
    });
  });

  test('events and sessions that are not ours', async () => {
    const { id, session } = await createPayment();
    const before = await stateOf(id);
    await accepts('payment_intent.succeeded', session);
    await accepts('charge.refunded', session);
    await accepts(COMPLETED, { ...session, metadata: {}, payment_status: 'paid' });
    await accepts(COMPLETED, { ...session, metadata: null, payment_status: 'paid' });
    expect(await stateOf(id)).toEqual(before);
  });

  test('the same bytes again, and a second event with the same news', async () => {
    const { id, session } = await createPayment();
    const paid = { ...session, payment_status: 'paid' };
    const signed = signEvent({ type: COMPLETED, session: paid, signedAt: service.clock() });
    expect((await deliver(signed)).statusCode).toBe(200);
    const settled = await stateOf(id);
    expect(settled.payment.status).toBe('successful');
    service.clock.now += 60_000;
    expect((await deliver(signed)).statusCode).toBe(200);
    await accepts(SUCCEEDED, paid);
    expect(await stateOf(id)).toEqual(settled);
    expect(logged(service, 'info')).toContain('processor notification repeats a known state');
    expect(logged(service, 'error')).toEqual([]);
  });

  test('anything that comes after the end, whichever it was', async () => {
    const paid = (session: object) => ({ ...session, payment_status: 'paid' });
    const { id, session } = await createPayment();
    await accepts(SUCCEEDED, paid(session));
    const settled = await stateOf(id);
    await accepts(COMPLETED, session);
    await accepts(FAILED, session);
    await accepts(EXPIRED, session);
    expect(await stateOf(id)).toEqual(settled);
    expect(logged(service, 'error')).toEqual([]);

    for (const end of [FAILED, EXPIRED]) {
      const other = await createPayment();
      await accepts(end, other.session);
      const ended = await stateOf(other.id);
      service.logs.length = 0;
      await accepts(SUCCEEDED, paid(other.session));
      expect(await stateOf(other.id)).toEqual(ended);
      expect(logged(service, 'error')).toEqual([
        'processor took money for a payment that has ended: refund it there',
      ]);
    }
  });

  test('an expiry after the customer has paid, from Stripe or from the worker', async () => {
    const { id, session } = await createPayment();
    await accepts(COMPLETED, session);
    const seen = await stateOf(id);
    await accepts(EXPIRED, session);
    await expirePayments(service.db, new Date(Date.parse(seen.payment.expiresAt) + 1), 100);
    expect(await stateOf(id)).toEqual(seen);
  });
});

test('money for a payment that was never committed is logged for an operator', async () => {
  const session = {
    id: 'cs_test_unknown',
    amount_total: 5_000,
    currency: 'usd',
    metadata: { paymentId: crypto.randomUUID() },
    payment_intent: 'pi_unknown',
    payment_status: 'paid',
  };
  await accepts(COMPLETED, session);
  expect(service.logs.find(({ level }) => level === 'error')).toMatchObject({
    msg: 'processor took money for a payment that does not exist: refund it there',
    processor: 'stripe',
    notification: {
      externalId: 'cs_test_unknown',
      kind: 'settled',
      amountCents: 5_000,
      transactionReference: 'pi_unknown',
    },
  });
  service.logs.length = 0;
  await accepts(EXPIRED, session);
  expect(logged(service, 'error')).toEqual([]);
});

test('of many concurrent notifications, each change happens once', async () => {
  const { id, session } = await createPayment();
  const paid = { ...session, payment_status: 'paid' };
  const types = [COMPLETED, SUCCEEDED, FAILED, EXPIRED, COMPLETED, SUCCEEDED, FAILED, EXPIRED];
  const responses = await Promise.all(types.map(type => notify(type, paid)));
  expect(responses.map(({ statusCode }) => statusCode)).toEqual(types.map(() => 200));
  const { status } = await read(id);
  expect(status).not.toBe('pending');
  expect(await eventsOf(service, id)).toEqual(['created', status]);

  const twice = await createPayment();
  await Promise.all([1, 2, 3, 4].map(() => notify(SUCCEEDED, { ...twice.session })));
  expect(await eventsOf(service, twice.id)).toEqual(['created', 'successful']);
});

test('forged requests use up the rate limit of their address, Stripe’s do not', async () => {
  const limited = await startTestApp({
    beside: service,
    env: { ...stripe.env, RATE_LIMIT_MAX: '3' },
  });
  const post = (signed: ReturnType<typeof signEvent>) =>
    limited.app.inject({
      method: 'POST',
      url: PATH,
      payload: signed.payload,
      headers: signed.headers,
    });
  const { session } = await createPayment();
  const good = { type: COMPLETED, session, signedAt: service.clock() };
  for (let i = 0; i < 5; i += 1) expect((await post(signEvent(good))).statusCode).toBe(200);
  const forged = signEvent({ ...good, secret: 'whsec_forged' });
  for (let i = 0; i < 3; i += 1) expectRefusal(await post(forged), 'E2007');
  expectRefusal(await post(forged), 'E9001');
  await limited.close();
});

test('a customer who bears the commission pays it on top', async () => {
  const us = { kind: 'us', addresses: {}, commissionBps: 150 } as const;
  const bearing = await addMerchant(service, { ...us, commissionPayer: 'shopper' });
  const { prompt, checkoutUrl } = await createPrompt(service, bearing, { amount: 1_700 });
  expect(prompt.commissionAmount).toBeNull();
  // 1.5 % of 1700 is 25.5.
  const amount = 'line_items[0][price_data][unit_amount]';
  expect(stripe.received.at(-1)?.form.get(amount)).toBe('1726');

  const session = {
    id: checkoutUrl.replace(/^.*\/(.*)#fid$/, '$1'),
    amount_total: 1_700,
    currency: 'usd',
    metadata: { paymentId: prompt.id },
    payment_intent: 'pi_shopper',
    payment_status: 'paid',
  };
  expectRefusal(await notify(COMPLETED, session), 'E1040');
  await accepts(COMPLETED, { ...session, amount_total: 1_726 });
  expect(await readPayment(service, bearing, prompt.id)).toMatchObject({
    status: 'successful',
    amount: 1_700,
    commissionAmount: 26,
  });
});

test('the guide subscribes the endpoint to every event, and to no other', () => {
  const guide = readFileSync(
    new URL('../../../src/surfaces/docs/guides/operating/stripe.md', import.meta.url),
    'utf8',
  );
  expect(guide).toContain(`{PUBLIC_URL}${PATH}`);
  const named = [...guide.matchAll(/`(checkout\.session\.\w+)`/g)].map(([, type]) => type);
  expect(named.toSorted()).toEqual(STRIPE_EVENTS.toSorted());
});

test('the page that customers come back to claims nothing it does not know', async () => {
  const page = await service.app.inject({ url: '/processor/done' });
  expect(page.statusCode).toBe(200);
  expect(page.headers['content-security-policy']).toContain("default-src 'none'");
  expect(page.body).toContain('You can close this page');
});
