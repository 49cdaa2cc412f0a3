import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { setMerchant } from '#accounts/merchants.ts';
import { expirePayments } from '#onchain/settlement/expire-on-chain.ts';
import type { Processor } from '#payments/processor.ts';
import { openProcessors, type Processors } from '#payments/processors/open-processor.ts';
import { findPayment } from '#storage/repositories/payments/payments.ts';
import { SMALL_LOOPS } from '#worker/small-loops.ts';
import { addMerchant, type MerchantWithKey, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp, testConfig } from '../../helpers/app.ts';
import { createPrompt } from '../../helpers/prompts.ts';
import { eventsOf, readPayment } from './payment-history.ts';
import { refuse, reply, type StripeServer, startStripeServer } from './stripe-server.ts';

const MINUTE_MS = 60_000;

let stripe: StripeServer;
let service: TestApp;
let shop: MerchantWithKey;
let processors: Processors;
let processor: Processor | null;
/** The payment intent of every session, as Stripe returns it. */
const intent = { status: 'processing' };
/** Stripe's sessions by ID; ending one that has ended is refused, as by Stripe. */
const sessions = new Map<string, Record<string, unknown>>();
const warned: string[] = [];
const errors: string[] = [];

beforeAll(async () => {
  stripe = await startStripeServer();
  service = await startTestApp({ env: stripe.env });
  shop = await addMerchant(service, { kind: 'us', addresses: {}, commissionBps: 150 });
  processors = await openProcessors(testConfig(stripe.env), service.keyring, service.clock);
  ({ processor } = processors);
});
beforeEach(() => {
  for (const list of [stripe.received, warned, errors]) list.length = 0;
  sessions.clear();
  intent.status = 'processing';
  // Payments that an earlier test left open are not inquired about any more.
  return service.db
    .updateTable('payments')
    .set({ inquire_at: new Date(Date.UTC(3000, 0)) })
    .execute();
});
afterAll(async () => {
  await service.close();
  await stripe.close();
});

/** Creates a payment, and its session at Stripe. */
async function create(session: Record<string, unknown>) {
  stripe.answer = stripe.openSession;
  const { prompt, checkoutUrl } = await createPrompt(service, shop, { amount: 5_000 });
  sessions.set(checkoutUrl.replace(/^.*\/(.*)#fid$/, '$1'), {
    amount_total: 5_000,
    currency: 'usd',
    payment_intent: 'pi_due',
    metadata: { paymentId: prompt.id },
    ...session,
  });
  stripe.received.length = 0;
  stripe.answer = (response, { path }) => {
    if (path === '/v1/payment_intents/pi_due')
      return reply(response, 200, { id: 'pi_due', ...intent });
    const [, id = '', ending] = /^\/v1\/checkout\/sessions\/(\w+)(\/expire)?$/.exec(path) ?? [];
    const known = sessions.get(id);
    if (known === undefined) return refuse(response, 404, 'invalid_request_error');
    if (ending && known.status !== 'open') return refuse(response, 400, 'invalid_request_error');
    if (ending) known.status = 'expired';
    return reply(response, 200, { id, object: 'checkout.session', ...known });
  };
  return prompt;
}

/** A payment whose time has passed, with its session at Stripe. */
async function createDue(session: Record<string, unknown>): Promise<string> {
  const { id, expiresAt } = await create(session);
  service.clock.now = Date.parse(expiresAt);
  return id;
}

/** Changes every session at Stripe from now on. */
function becomes(session: Record<string, unknown>): void {
  for (const each of sessions.values()) Object.assign(each, session);
}

async function runRound(configured = processor): Promise<void> {
  const logger = {
    info: () => undefined,
    warn: (_context: unknown, message: string) => void warned.push(message),
    error: (_context: unknown, message: string) => void errors.push(message),
  } as unknown as TestApp['app']['log'];
  const { sandbox } = processors;
  const loop = SMALL_LOOPS.followUpRegulated({
    ...service,
    processor: configured,
    sandbox,
    logger,
  });
  await loop.run(new AbortController().signal, () => undefined);
}

const read = (id: string) => readPayment(service, shop, id);
const asked = () => stripe.received.map(({ path }) => path.replace(/cs_test_\w+/, 'ID'));

describe('a payment whose time has passed', () => {
  test('is settled when Stripe says that it is paid', async () => {
    const id = await createDue({ status: 'complete', payment_status: 'paid' });
    await expirePayments(service.db, new Date(service.clock.now), 100);
    expect((await read(id)).status).toBe('pending');

    await runRound();
    expect(await read(id)).toMatchObject({
      status: 'successful',
      transactionHash: 'pi_due',
      commissionAmount: 75,
    });
    expect(await eventsOf(service, id)).toEqual(['created', 'successful']);
    await runRound();
    expect(asked()).toEqual(['/v1/checkout/sessions/ID']);
  });

  test('is inquired about once, whichever worker does it', async () => {
    await createDue({ status: 'complete', payment_status: 'paid' });
    await Promise.all([runRound(), runRound(), runRound()]);
    expect(asked()).toEqual(['/v1/checkout/sessions/ID']);
  });

  test('waits for its money when the customer is done', async () => {
    const id = await createDue({ status: 'complete', payment_status: 'unpaid' });
    await runRound();
    await runRound();
    expect(await read(id)).toMatchObject({ status: 'pending', sessionStatus: 'completed' });
    expect(await eventsOf(service, id)).toEqual(['created', 'detected']);
  });

  test('expires when its session has', async () => {
    const id = await createDue({ status: 'expired', payment_status: 'unpaid' });
    await runRound();
    expect(await read(id)).toMatchObject({ status: 'expired', sessionStatus: 'expired' });
    expect(await eventsOf(service, id)).toEqual(['created', 'expired']);
    expect(asked()).toEqual(['/v1/checkout/sessions/ID']);
  });

  test('whose session is still open ends that first, and not a moment before its time', async () => {
    const id = await createDue({ status: 'open', payment_status: 'unpaid' });
    service.clock.now -= 1;
    await runRound();
    expect((await read(id)).status).toBe('pending');
    stripe.received.length = 0;
    service.clock.now += 1;
    await runRound();
    expect((await read(id)).status).toBe('expired');
    expect(asked()).toEqual(['/v1/checkout/sessions/ID', '/v1/checkout/sessions/ID/expire']);
  });

  test('stays pending when the customer pays while its session is being ended', async () => {
    const id = await createDue({ status: 'open', payment_status: 'unpaid' });
    const answer = stripe.answer;
    stripe.answer = (response, request) => {
      if (request.path.endsWith('/expire')) {
        becomes({ status: 'complete', payment_status: 'paid' });
      }
      answer(response, request);
    };
    await runRound();
    expect((await read(id)).status).toBe('pending');
    service.clock.now += 5_000;
    await runRound();
    expect((await read(id)).status).toBe('successful');
  });

  test('stays pending while Stripe is unavailable, and is inquired about again', async () => {
    const id = await createDue({ status: 'complete', payment_status: 'paid' });
    const answer = stripe.answer;
    stripe.answer = response => void response.destroy();
    service.clock.now += 90 * MINUTE_MS;
    await runRound();
    expect((await read(id)).status).toBe('pending');
    expect(warned).toEqual(['payment stays pending: the processor did not report its state']);
    stripe.answer = answer;
    service.clock.now += 15 * MINUTE_MS;
    await runRound();
    expect((await read(id)).status).toBe('successful');
  });

  test('is left to an operator when Stripe returns another amount', async () => {
    const id = await createDue({ status: 'complete', payment_status: 'paid', amount_total: 1 });
    await runRound();
    expect((await read(id)).status).toBe('pending');
    expect(errors).toEqual([
      'processor notification differs from the payment in amount or currency: check both',
    ]);
    becomes({ amount_total: 5_000 });
    service.clock.now += 5_000;
    await runRound();
    expect((await read(id)).status).toBe('successful');
  });
});

describe('a payment that has not ended is inquired about until it has', () => {
  test.each([
    ['arrived', 'successful', 'paid', 'succeeded'],
    ['failed', 'unsuccessful', 'unpaid', 'requires_payment_method'],
    ['was cancelled', 'unsuccessful', 'unpaid', 'canceled'],
  ])('when its money was in transit and %s without a notification', async (_what, ...end) => {
    const [status, payment_status, intentStatus] = end;
    const id = await createDue({ status: 'complete', payment_status: 'unpaid' });
    await runRound();
    service.clock.now += 15 * MINUTE_MS;
    await runRound();
    expect(await read(id)).toMatchObject({ status: 'pending', sessionStatus: 'completed' });
    becomes({ payment_status });
    intent.status = intentStatus;
    service.clock.now += 15 * MINUTE_MS;
    await runRound();
    expect(await read(id)).toMatchObject({ status, sessionStatus: 'completed' });
    expect(await eventsOf(service, id)).toEqual(['created', 'detected', status]);
  });

  test('when it was paid at once and no notification came', async () => {
    const { id } = await create({ status: 'complete', payment_status: 'paid' });
    service.clock.now += 5 * MINUTE_MS - 1;
    await runRound();
    expect(asked()).toEqual([]);
    service.clock.now += 1;
    await runRound();
    expect((await read(id)).status).toBe('successful');
  });

  test('whenever its age has doubled, and after its time, whenever the time since then has', async () => {
    await create({ status: 'complete', payment_status: 'unpaid' });
    const start = service.clock.now;
    const minutes: number[] = [];
    for (let minute = 0; minute <= 180; minute++) {
      service.clock.now = start + minute * MINUTE_MS;
      const before = stripe.received.length;
      await runRound();
      if (stripe.received.length > before) minutes.push(minute);
    }
    expect(minutes).toEqual([5, 10, 20, 40, 60, 61, 62, 64, 68, 76, 91, 106, 121, 136, 151, 166]);
  });

  test('when it was created by a release that did not inquire before expiry', async () => {
    const { id, expiresAt } = await create({ status: 'complete', payment_status: 'paid' });
    await service.db
      .updateTable('payments')
      .set({ inquire_at: null })
      .where('id', '=', id)
      .execute();
    service.clock.now = Date.parse(expiresAt) - 1;
    await runRound();
    expect(asked()).toEqual([]);
    service.clock.now += 1;
    await runRound();
    expect((await read(id)).status).toBe('successful');
  });
});

describe('an open payment of a merchant that was deactivated', () => {
  const setStatus = (status: 'active' | 'inactive') =>
    setMerchant(operatorOf(service), shop.merchant.id, { status });
  const find = async (id: string) => await findPayment(service.db, id);
  afterEach(() => setStatus('active'));

  test('is cancelled once its session has ended', async () => {
    const { id } = await create({ status: 'open', payment_status: 'unpaid' });
    await setStatus('inactive');
    await runRound();
    await runRound();
    expect(asked()).toEqual(['/v1/checkout/sessions/ID', '/v1/checkout/sessions/ID/expire']);
    expect(await find(id)).toMatchObject({
      status: 'cancelled',
      cancellation_reason: 'merchant_deactivated',
    });
    expect(await eventsOf(service, id)).toEqual(['created', 'cancelled']);
  });

  test('is settled if it was paid, and continues if its money is in transit', async () => {
    const paid = await create({ status: 'complete', payment_status: 'paid' });
    const seen = await create({ status: 'complete', payment_status: 'unpaid' });
    await setStatus('inactive');
    for (let round = 0; round < 3; round++) await runRound();
    expect((await find(paid.id))?.status).toBe('successful');
    expect(await find(seen.id)).toMatchObject({ status: 'pending', session_status: 'completed' });
    expect(asked()).toHaveLength(3);
  });

  test('stays open while Stripe is unavailable, and is inquired about every minute', async () => {
    const { id } = await create({ status: 'open', payment_status: 'unpaid' });
    const answer = stripe.answer;
    stripe.answer = response => refuse(response, 400, 'invalid_request_error');
    await setStatus('inactive');
    for (let second = 0; second < 60; second += 5) {
      await runRound();
      service.clock.now += 5_000;
    }
    expect((await find(id))?.status).toBe('pending');
    expect(asked()).toHaveLength(1);
    stripe.answer = answer;
    service.clock.now += 5_000;
    await runRound();
    expect((await find(id))?.status).toBe('cancelled');
  });
});

describe('an hour after its time, at the next inquiry, expires without a request', () => {
  async function expiresUnasked(id: string, configured: Processor | null) {
    service.clock.now += 60 * MINUTE_MS - 1;
    await runRound(configured);
    expect((await read(id)).status).toBe('pending');
    warned.length = 0;
    service.clock.now += 15 * MINUTE_MS;
    await runRound(configured);
    expect((await read(id)).status).toBe('expired');
    expect(warned).toEqual(['payment expired without confirmation from a processor']);
  }

  test('a payment when no processor is configured', async () => {
    await expiresUnasked(await createDue({ status: 'open' }), null);
    expect(asked()).toEqual([]);
  });

  test('a payment of another processor', async () => {
    await expiresUnasked(await createDue({ status: 'open' }), processors.sandbox);
    expect(asked()).toEqual([]);
  });

  test('a payment whose session Stripe does not know', async () => {
    const id = await createDue({});
    sessions.clear();
    await expiresUnasked(id, processor);
  });
});

test('a round handles more payments than one batch, even if some fail', async () => {
  const ids: string[] = [];
  const start = service.clock.now;
  for (let i = 0; i < 23; i += 1) {
    service.clock.now = start;
    ids.push(await createDue({ status: i < 9 ? 'open' : 'expired', amount_total: 5_000 }));
  }
  const broken = new Set([...sessions.keys()].slice(0, 9));
  const answer = stripe.answer;
  stripe.answer = (response, request) =>
    [...broken].some(id => request.path.includes(id))
      ? refuse(response, 403, 'invalid_request_error')
      : answer(response, request);
  await runRound();
  const states = await Promise.all(ids.map(async id => (await read(id)).status));
  expect(states).toEqual(ids.map((_id, i) => (i < 9 ? 'pending' : 'expired')));
});
