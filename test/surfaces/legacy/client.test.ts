import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient } from '#client/index.ts';
import { expirePayments } from '#onchain/settlement/expire-on-chain.ts';
import { selectNetwork } from '#onchain/settlement/select-network.ts';
import { findPayment } from '#storage/repositories/payments/payments.ts';
import { addMerchant } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { createPrompt } from '../../helpers/prompts.ts';
import { simulate } from '../../helpers/simulate.ts';
import { addOlderMerchant, ask, BODY, type OlderMerchant, PROMPT } from './older-contract.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let service: TestApp;
let shop: OlderMerchant;
let base: string;
beforeAll(async () => {
  service = await startTestApp();
  shop = await addOlderMerchant(service, { commissionBps: 150, domains: ['shop.example'] });
  base = await service.app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(() => service.close());

/** A client as merchants wrote it for the older contract, using only fetch. */
function olderClient({ clientId, apiKey }: OlderMerchant) {
  const headers = {
    Authorization: `Basic ${btoa(`${clientId}:${apiKey}`)}`,
    'Content-Type': 'application/json',
  };
  const read = async (response: Response) => ({
    status: response.status,
    // A client of that time does not validate responses.
    body: JSON.parse(await response.text()),
  });
  return {
    create: async (body: object) =>
      read(
        await fetch(`${base}${PROMPT}`, { method: 'POST', headers, body: JSON.stringify(body) }),
      ),
    get: async (id: string) => read(await fetch(`${base}${PROMPT}/${id}`, { headers })),
    active: async () => read(await fetch(`${base}/external/blockchains/active`, { headers })),
  };
}

const now = () => new Date(service.clock());
async function paymentOf(id: string) {
  const payment = await findPayment(service.db, id);
  if (payment === undefined) throw new Error('no payment');
  return payment;
}
async function create(body: object = {}, merchant = shop) {
  const response = await ask(service, merchant, { body: { ...BODY, ...body } });
  expect(response.statusCode, response.body).toBe(201);
  return response.json();
}

test('a client written for the older contract needs no change, and v1 reads the same prompt', async () => {
  const client = olderClient(shop);
  const v1 = createClient({ ...shop, baseUrl: base, now: service.clock });

  const networks = await client.active();
  expect(networks).toEqual({ status: 200, body: await v1.activeBlockchains() });
  expect(networks.body).toHaveLength(23);

  const redirectUrl = 'https://shop.example/thanks?order=1';
  const created = await client.create({ ...BODY, note: 'Order 1', redirectUrl });
  const createdAt = now().toISOString();
  expect(created).toEqual({
    status: 201,
    body: {
      prompt: {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        amount: 19.99,
        commissionAmount: '0.00',
        status: 'pending',
        sessionStatus: 'pending',
        expiresAt: new Date(service.clock() + DAY_MS).toISOString(),
        createdAt,
        redirectUrl,
      },
      checkoutUrl: expect.stringMatching(/^https:\/\/pay\.example\.test\/checkout\/[\w-]{43}$/),
    },
  });
  const { id } = created.body.prompt;
  expect(await client.get(id)).toEqual({
    status: 200,
    body: { id, blockchainId: null, status: 'pending', createdAt },
  });
  expect(await v1.getPayment(id)).toMatchObject({
    object: 'payment_prompt',
    id,
    amount: 1999,
    commissionAmount: null,
    commissionPayer: 'merchant',
    settlementModel: 'split',
    status: 'pending',
    expiresAt: created.body.prompt.expiresAt,
    createdAt,
    redirectUrl,
    customerReferenceId: null,
  });

  const checkout = await service.app.inject({ url: new URL(created.body.checkoutUrl).pathname });
  expect(checkout.statusCode).toBe(200);
  await selectNetwork(
    service.db,
    service.rates,
    { payment: await paymentOf(id), blockchainId: 'btc', offering: 'simulated' },
    now(),
  );
  await simulate(service, id, 'confirm', now());
  expect((await client.get(id)).body).toEqual({
    id,
    blockchainId: 'btc',
    status: 'successful',
    createdAt,
  });
  expect(await v1.getPayment(id)).toMatchObject({ status: 'successful', blockchainId: 'btc' });
});

describe('a prompt', () => {
  test('records who made it, for which payer, and its first event', async () => {
    const { prompt } = await create({ note: 'Order 2', blockchainIds: ['eth', 'btc', 'eth'] });
    expect(await paymentOf(prompt.id)).toMatchObject({
      merchant_id: shop.merchant.id,
      created_by: shop.clientId,
      note: 'Order 2',
      offered_blockchain_ids: ['btc', 'eth'],
      redirect_url: null,
    });
    const events = await service.db
      .selectFrom('events')
      .select('type')
      .where('payment_id', '=', prompt.id)
      .execute();
    expect(events).toEqual([{ type: 'payment_prompt.created' }]);
  });

  test("charges the commission to the payer it names, whatever the merchant's setting", async () => {
    const { prompt } = await create({ amount: 50, payer: 'customer' });
    const payment = await paymentOf(prompt.id);
    expect(payment.commission_payer).toBe('shopper');
    const chosen = await selectNetwork(
      service.db,
      service.rates,
      { payment, blockchainId: 'btc', offering: 'simulated' },
      now(),
    );
    expect(chosen.commission_amount).toBe(75);
    const shoppers = await addOlderMerchant(service, { commissionPayer: 'shopper' });
    const own = await create({ payer: 'merchant' }, shoppers);
    expect((await paymentOf(own.prompt.id)).commission_payer).toBe('merchant');
  });

  test('of a merchant settled directly has no commission', async () => {
    const direct = await addOlderMerchant(service, { settlement: 'direct' });
    expect((await create({}, direct)).prompt.commissionAmount).toBe('0.00');
  });

  test.each([
    ['0.50', 50, 0.5],
    ['0.5', 50, 0.5],
    ['1.1', 110, 1.1],
    ['4.35', 435, 4.35],
    ['1e3', 100_000, 1000],
    ['1000000.00', 100_000_000, 1_000_000],
    ['999999.99', 99_999_999, 999_999.99],
  ])('of %s dollars has %i cents', async (text, cents, dollars) => {
    const body = `{"amount":${text},"blockchainIds":["btc"],"payer":"merchant"}`;
    const response = await ask(service, shop, { body });
    expect(response.json().prompt.amount).toBe(dollars);
    expect(response.body).toContain(`"amount":${dollars},`);
    expect((await paymentOf(response.json().prompt.id)).amount).toBe(cents);
  });

  test('accepts null for optional fields, and ignores fields that the contract does not name', async () => {
    const extra = {
      note: null,
      redirectUrl: null,
      customerReferenceId: 'x',
      merchantId: 7,
      a: '\0',
    };
    const { prompt } = await create(extra);
    expect(prompt.redirectUrl).toBeNull();
    expect((await paymentOf(prompt.id)).customer_reference_id).toBeNull();
  });

  test('is created again each time: there is no idempotency', async () => {
    const headers = { 'idempotency-key': 'order-1' };
    const ids = [];
    for (let time = 0; time < 2; time++) {
      ids.push((await ask(service, shop, { body: BODY, headers })).json().prompt.id);
    }
    expect(new Set(ids).size).toBe(2);
    const kept = await service.db.selectFrom('idempotency_keys').select('key').execute();
    expect(kept).toEqual([]);
  });

  test('may have been made through v1', async () => {
    const { prompt } = await createPrompt(service, shop, { amount: 1234 });
    const response = await ask(service, shop, { path: `${PROMPT}/${prompt.id.toUpperCase()}` });
    expect(response.json()).toMatchObject({ id: prompt.id, status: 'pending' });
  });

  test('of a US merchant ignores its networks, keeps 24 hours and goes to the processor', async () => {
    const us = await addOlderMerchant(service, { kind: 'us' });
    const { prompt, checkoutUrl } = await create({ blockchainIds: ['sol'] }, us);
    expect(prompt).toMatchObject({
      commissionAmount: '0.00',
      expiresAt: new Date(service.clock() + DAY_MS).toISOString(),
    });
    expect(checkoutUrl).not.toContain('/checkout/');
    expect(await paymentOf(prompt.id)).toMatchObject({ flow: 'regulated', blockchain_id: null });
  });
});

describe('24 hours', () => {
  test('are not shortened by choosing networks, and v1 payments still are', async () => {
    const { prompt } = await create();
    const before = await paymentOf(prompt.id);
    service.clock.now += 5 * HOUR_MS;
    for (const blockchainId of ['btc', 'eth']) {
      const chosen = await selectNetwork(
        service.db,
        service.rates,
        { payment: before, blockchainId, offering: 'simulated' },
        now(),
      );
      expect(chosen.expires_at).toEqual(before.expires_at);
    }
    expect(before.expires_at.getTime()).toBe(before.created_at.getTime() + DAY_MS);

    const current = await createPrompt(service, await addMerchant(service), { amount: 5000 });
    const payment = await paymentOf(current.prompt.id);
    const chosen = await selectNetwork(
      service.db,
      service.rates,
      { payment, blockchainId: 'btc', offering: 'simulated' },
      now(),
    );
    expect(chosen.expires_at.getTime()).toBe(service.clock() + HOUR_MS);
  });

  test('end the prompt when nothing was paid', async () => {
    const { prompt } = await create();
    const status = async () =>
      (await ask(service, shop, { path: `${PROMPT}/${prompt.id}` })).json().status;
    service.clock.now += DAY_MS - 1;
    await expirePayments(service.db, now(), 100);
    expect(await status()).toBe('pending');
    service.clock.now += 1;
    await expirePayments(service.db, now(), 100);
    expect(await status()).toBe('expired');
  });

  test('are enforced by the database itself', async () => {
    const { prompt } = await create();
    const change = (columns: object) =>
      service.db.updateTable('payments').set(columns).where('id', '=', prompt.id).execute();
    await expect(change({ expires_at: now() })).rejects.toThrow(/time to pay .* is fixed/);
    await expect(change({ expiry_fixed: false })).rejects.toThrow(/time to pay .* is fixed/);
    await change({ expires_at: (await paymentOf(prompt.id)).expires_at });
  });
});
