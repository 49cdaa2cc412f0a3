import { register } from 'prom-client';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { readConfig } from '#config/config.ts';
import { createStripeProcessor } from '#payments/processors/stripe-processor.ts';
import { addMerchant, type MerchantWithKey } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { countWritten, createPrompt, expectRefusal, requestPrompt } from '../../helpers/prompts.ts';
import { freePort } from '../../helpers/redis-server.ts';
import { send } from '../../helpers/signed-request.ts';
import { SOON } from '../../helpers/soon.ts';
import { watchStalls } from '../../helpers/stalls.ts';
import { watchNetworks } from '../../helpers/watch-networks.ts';
import { addOlderMerchant, ask, BODY } from '../../surfaces/legacy/older-contract.ts';
import { refuse, reply, type StripeServer, startStripeServer } from './stripe-server.ts';

const PAUSE_MS = 10_000;

/** The value of a metric, summed over its labels. */
async function metric(name: string): Promise<number> {
  const { values = [] } = (await register.getSingleMetric(name)?.get()) ?? {};
  return values.reduce((sum, { value }) => sum + value, 0);
}

let stripe: StripeServer;
let service: TestApp;
let shop: MerchantWithKey;

/** Takes eight seconds, while the other tests run. */
let hanging: Promise<void>;

beforeAll(async () => {
  hanging = createWhileStripeHangs();
  // Reported where it is awaited.
  hanging.catch(() => undefined);
  stripe = await startStripeServer();
  service = await startTestApp({ env: stripe.env });
  shop = await addMerchant(service, { kind: 'us', name: 'Zoë & Søn', addresses: {} });
});
beforeEach(() => {
  stripe.answer = stripe.openSession;
  stripe.received.length = 0;
  service.logs.length = 0;
  // After the pause that failures in an earlier test may have started.
  service.clock.now += PAUSE_MS;
});
afterAll(async () => {
  await hanging.catch(() => undefined);
  await service.close();
  await stripe.close();
});

/** With its own Stripe server and service. */
async function createWhileStripeHangs(): Promise<void> {
  const silent = await startStripeServer();
  const waiting = await startTestApp({ env: silent.env });
  const stalls = watchStalls();
  try {
    const owner = await addMerchant(waiting, { kind: 'us', addresses: {} });
    silent.answer = () => undefined;
    const before = await countWritten(waiting.db);
    const started = stalls.now();
    const key = { 'idempotency-key': 'hanging' };
    const [plain, keyed, during] = await Promise.all([
      requestPrompt(waiting, owner, body),
      requestPrompt(waiting, owner, body, key),
      // Once the other request holds the lock.
      vi
        .waitUntil(() => silent.received.length === 2, SOON)
        .then(() => requestPrompt(waiting, owner, body, key)),
    ]);
    expect(stalls.now() - started).toBeLessThan(9_500);
    expectRefusal(plain, 'E5002');
    expectRefusal(keyed, 'E5002');
    expectRefusal(during, 'E4003');
    expect(await countWritten(waiting.db)).toEqual({ ...before, responses: before.responses + 1 });

    silent.answer = silent.openSession;
    const replay = await requestPrompt(waiting, owner, body, key);
    expect(replay.body).toBe(keyed.body);
    expect(replay.headers['x-mp-should-retry']).toBe('false');
  } finally {
    stalls.stop();
    await waiting.close();
    await silent.close();
  }
}

const body = { amount: 12_345, note: 'Two chairs', customerReferenceId: 'order 7' };

describe('a creation', () => {
  test('is dated after Stripe’s response, so that no client pages past it', async () => {
    stripe.answer = (...request) => {
      service.clock.now += 4_000;
      return stripe.openSession(...request);
    };
    const began = service.clock.now;
    const { prompt } = await createPrompt(service, shop, body);
    expect(Date.parse(prompt.createdAt)).toBe(began + 4_000);
  });

  test('asks Stripe for one session and passes on Stripe’s own page', async () => {
    const { prompt, checkoutUrl } = await createPrompt(service, shop, body);
    expect(checkoutUrl).toMatch(/^https:\/\/checkout\.stripe\.com\/c\/pay\/cs_test_\w+#fid$/);
    expect(prompt).toMatchObject({
      status: 'pending',
      sessionStatus: 'pending',
      commissionAmount: null,
      settlementModel: null,
      blockchainId: null,
      tokenAmount: null,
      transactionHash: null,
    });

    expect(stripe.received).toHaveLength(1);
    const [request] = stripe.received;
    expect(request).toMatchObject({
      path: '/v1/checkout/sessions',
      authorization: `Bearer ${stripe.env.STRIPE_SECRET_KEY}`,
      idempotencyKey: prompt.id,
    });
    const sessionEnd = Date.parse(prompt.expiresAt) - 10 * 60_000;
    expect(Object.fromEntries(request?.form ?? [])).toEqual({
      mode: 'payment',
      'allowed_payment_method_types[0]': 'crypto',
      'line_items[0][quantity]': '1',
      'line_items[0][price_data][currency]': 'usd',
      'line_items[0][price_data][unit_amount]': '12345',
      'line_items[0][price_data][product_data][name]': 'Zoë & Søn',
      'line_items[0][price_data][product_data][description]': 'Two chairs',
      'adaptive_pricing[enabled]': 'false',
      client_reference_id: prompt.id,
      'metadata[paymentId]': prompt.id,
      'payment_intent_data[metadata][paymentId]': prompt.id,
      expires_at: String(sessionEnd / 1000),
      success_url: 'https://pay.example.test/processor/done',
    });
    // Stripe accepts 30 minutes to 24 hours.
    expect(sessionEnd - service.clock.now).toBeGreaterThanOrEqual(30 * 60_000);

    const stored = await service.db
      .selectFrom('payments')
      .select(['processor', 'external_id', 'flow', 'checkout_token_hash'])
      .where('id', '=', prompt.id)
      .executeTakeFirstOrThrow();
    expect(stored).toEqual({
      processor: 'stripe',
      external_id: checkoutUrl.replace(/^.*\/(.*)#fid$/, '$1'),
      flow: 'regulated',
      checkout_token_hash: null,
    });
  });

  test('with no note or an empty one sends none', async () => {
    await createPrompt(service, shop, { amount: 50 });
    await createPrompt(service, shop, { amount: 50, note: '' });
    for (const { form } of stripe.received) {
      expect([...form.keys()].filter(name => name.includes('description'))).toEqual([]);
    }
  });

  test('is replayed without asking Stripe again', async () => {
    const key = { 'idempotency-key': 'created' };
    const original = await requestPrompt(service, shop, body, key);
    const replay = await requestPrompt(service, shop, body, key);
    expect(replay.headers['idempotent-replayed']).toBe('true');
    expect(replay.body).toBe(original.body);
    expect(stripe.received).toHaveLength(1);
  });

  test('survives one failure: the second attempt is for the same session', async () => {
    stripe.answer = response => {
      stripe.answer = stripe.openSession;
      response.destroy();
    };
    const { prompt } = await createPrompt(service, shop, body);
    expect(stripe.received.map(request => request.idempotencyKey)).toEqual([prompt.id, prompt.id]);
  });

  test('of a standard account never asks a processor', async () => {
    await createPrompt(service, await addMerchant(service), { amount: 5000 });
    expect(stripe.received).toEqual([]);
  });
});

const FAILURES: [string, StripeServer['answer']][] = [
  ['fails', response => refuse(response, 500, 'api_error')],
  ['is overloaded', response => refuse(response, 429, 'rate_limit_error')],
  ['answers with a web page', response => void response.writeHead(502).end('<h1>Bad')],
  ['hangs up', response => void response.destroy()],
];

const NO_ACCOUNT = 'The payment processor accepts no payments for this account.';
const REFUSALS: [string, string, StripeServer['answer']][] = [
  ['does not know the key', NO_ACCOUNT, response => refuse(response, 401, 'authentication_error')],
  ['has closed the account', NO_ACCOUNT, response => refuse(response, 403, 'permission_error')],
  [
    'finds the amount too large',
    'The amount is too large for the payment processor.',
    response => refuse(response, 400, 'invalid_request_error', 'amount_too_large'),
  ],
  [
    'refuses something else',
    'The payment processor refuses this payment.',
    response => refuse(response, 400, 'invalid_request_error', 'constructor'),
  ],
  [
    'does not offer stablecoins',
    'The payment processor does not offer stablecoins for this account or amount.',
    response => reply(response, 200, { id: 'cs_1', url: 'https://x', payment_method_types: [] }),
  ],
  [
    'opens no page',
    'The payment processor refuses this payment.',
    response => reply(response, 200, { id: 'cs_1', url: null, payment_method_types: ['crypto'] }),
  ],
];

describe('when Stripe', () => {
  test.each(REFUSALS)(
    '%s, the response is E1040 and the key is free',
    async (_what, why, answer) => {
      stripe.answer = answer;
      const before = await countWritten(service.db);
      const key = { 'idempotency-key': `refused ${_what}` };
      for (const headers of [{}, key, key]) {
        const refused = await requestPrompt(service, shop, body, headers);
        expectRefusal(refused, 'E1040');
        expect(refused.json().error.message).toBe(why);
        expect(refused.headers).not.toHaveProperty('idempotent-replayed');
      }
      expect(await countWritten(service.db)).toEqual(before);
      expect(stripe.received).toHaveLength(3);

      stripe.answer = stripe.openSession;
      await createPrompt(service, shop, body, key);
      const lines = JSON.stringify(service.logs);
      expect(lines).toContain('processor refuses a payment');
      expect(lines).not.toContain(stripe.env.STRIPE_SECRET_KEY);
    },
  );

  test('refuses a payment of the older contract, the response says why', async () => {
    const older = await addOlderMerchant(service, { kind: 'us' });
    stripe.answer = response => refuse(response, 400, 'invalid_request_error', 'amount_too_large');
    const answer = await ask(service, older, { body: BODY });
    expect(answer.json()).toEqual({
      statusCode: 400,
      message: 'Invalid request: The amount is too large for the payment processor.',
      error: 'Bad Request',
    });
  });

  test.each(FAILURES)('%s, the response is E5002 and nothing remains', async (_what, answer) => {
    stripe.answer = answer;
    const before = await countWritten(service.db);
    const key = { 'idempotency-key': `down ${_what}` };
    const [plain, original] = await Promise.all([
      requestPrompt(service, shop, body),
      requestPrompt(service, shop, body, key),
    ]);
    expectRefusal(plain, 'E5002');
    expectRefusal(original, 'E5002');
    // No payment; of the two requests, the one with a key has stored its response.
    expect(await countWritten(service.db)).toEqual({ ...before, responses: before.responses + 1 });

    // The cause is gone; the key keeps its response all the same.
    stripe.answer = stripe.openSession;
    const requests = stripe.received.length;
    const replay = await requestPrompt(service, shop, body, key);
    expect(replay.statusCode).toBe(original.statusCode);
    expect(replay.body).toBe(original.body);
    expect(replay.headers).toMatchObject({
      'idempotent-replayed': 'true',
      'x-mp-should-retry': 'false',
    });
    expect(stripe.received).toHaveLength(requests);
    await createPrompt(service, shop, body, { 'idempotency-key': `again ${_what}` });

    const lines = JSON.stringify(service.logs);
    expect(lines).toContain('request failed');
    expect(lines).not.toContain(stripe.env.STRIPE_SECRET_KEY);
    expect(lines).not.toContain(stripe.env.STRIPE_WEBHOOK_SECRET);
  });

  test('hangs, the response comes in time and frees everything', () => hanging, 15_000);

  test('is not listening, the response is E5002', async () => {
    const nowhere = `http://127.0.0.1:${await freePort()}`;
    const lost = await startTestApp({
      env: { ...stripe.env, STRIPE_API_URL: nowhere },
      beside: service,
    });
    expectRefusal(await requestPrompt(lost, shop, body), 'E5002');
    await lost.close();
  });

  test('fails again and again, it is not called for a while, and then by one request first', async () => {
    stripe.answer = response => refuse(response, 503, 'api_error');
    for (let i = 0; i < 3; i += 1) {
      expectRefusal(await requestPrompt(service, shop, body), 'E5002');
    }
    const asked = stripe.received.length;
    const key = { 'idempotency-key': 'left alone' };
    const refused = await requestPrompt(service, shop, body, key);
    expectRefusal(refused, 'E5002');
    expect(refused.headers['x-mp-should-retry']).toBe('true');
    expect(stripe.received).toHaveLength(asked);

    service.clock.now += PAUSE_MS;
    stripe.answer = stripe.openSession;
    const answers = await Promise.all([1, 2, 3].map(() => requestPrompt(service, shop, body)));
    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toContain(201);
    // Stripe was not called for this key, so nothing was stored.
    await createPrompt(service, shop, body, key);
  });
});

test('when Stripe is slow, a third of the connections wait for it and the rest serve other requests', async () => {
  const held: (() => void)[] = [];
  stripe.answer = (response, request) => {
    held.push(() => stripe.openSession(response, request));
  };
  // It waits for Stripe as well.
  await hanging;
  const { databasePoolSize } = readConfig({});
  const refused = await metric('eps_processor_sessions_refused_total');
  const keys = Array.from({ length: databasePoolSize }, () => ({
    'idempotency-key': `slow ${crypto.randomUUID()}`,
  }));
  const asked = keys.map(key => requestPrompt(service, shop, body, key));
  await expect.poll(() => metric('eps_processor_sessions_refused_total')).toBe(refused + 7);
  await expect.poll(() => stripe.received.length).toBe(3);
  expect(await metric('eps_processor_sessions_in_flight')).toBe(3);
  expect(await metric('eps_processor_sessions_limit')).toBe(3);

  const standard = await addMerchant(service);
  const made = await Promise.all(keys.map(() => createPrompt(service, standard, { amount: 5000 })));
  for (const { prompt } of made) {
    const read = await send(service, standard, { path: `/external/v1/payments/${prompt.id}` });
    expect(read.statusCode).toBe(200);
  }

  for (const answer of held) answer();
  const statuses = (await Promise.all(asked)).map(({ statusCode }) => statusCode);
  expect(statuses.toSorted()).toEqual([...Array(3).fill(201), ...Array(7).fill(503)]);
  expect(await metric('eps_processor_sessions_in_flight')).toBe(0);
  stripe.answer = stripe.openSession;
  // Refused requests stored nothing under their keys.
  for (const [n, status] of statuses.entries()) {
    if (status === 503) await createPrompt(service, shop, body, keys[n]);
  }
});

test('without a processor US accounts get E1030, and others are served', async () => {
  const bare = await startTestApp({
    beside: service,
    env: {
      NODE_ENV: 'production',
      DATABASE_URL: service.databaseUrl,
      MASTER_KEY: Buffer.alloc(32).toString('base64'),
    },
  });
  expect(bare.logs.map(line => line.msg)).toContain(
    'no PROCESSOR is set: US accounts of live merchants cannot take payments',
  );
  expectRefusal(await requestPrompt(bare, shop, body), 'E1030');
  await watchNetworks(bare.db);
  await createPrompt(bare, await addMerchant(bare), { amount: 5000 });
  const sandbox = await bare.app.inject({ url: '/processor/sandbox/token' });
  expect(sandbox.statusCode).toBe(404);
  await bare.close();
});

test('a session can be ended before its time', async () => {
  stripe.answer = response => reply(response, 200, { id: 'cs_test_1', status: 'expired' });
  const settings = { secretKey: 'sk_test_1', webhookSecret: 'whsec_1', apiUrl: stripe.url };
  await createStripeProcessor(settings, 'https://pay.example.test').endSession?.('cs_test_1');
  expect(stripe.received.map(({ path }) => path)).toEqual([
    '/v1/checkout/sessions/cs_test_1/expire',
  ]);
});
