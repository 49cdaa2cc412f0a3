import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setNetwork } from '#accounts/networks.ts';
import { findMainBranch } from '#storage/repositories/accounts/merchants.ts';
import {
  ADDRESSES,
  addMerchant,
  type MerchantWithKey,
  operatorOf,
} from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { countWritten, createPrompt, requestPrompt } from '../../helpers/prompts.ts';
import { send } from '../../helpers/signed-request.ts';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const MINUTE_MS = 60_000;

let service: TestApp;
let shop: MerchantWithKey;

beforeAll(async () => {
  service = await startTestApp();
  shop = await addMerchant(service, { domains: ['shop.example.com'] });
});
afterAll(() => service.close());

const iso = (minutes = 0) => new Date(service.clock.now + minutes * MINUTE_MS).toISOString();

describe('the response', () => {
  test('is 201 with the whole payment object and the checkout URL', async () => {
    const response = await requestPrompt(service, shop, {
      amount: 5000,
      redirectUrl: 'https://shop.example.com/thanks?order=1',
      customerReferenceId: 'order-1',
      note: 'Two coffees',
    });
    expect(response.statusCode).toBe(201);
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(response.json()).toEqual({
      prompt: {
        object: 'payment_prompt',
        id: expect.stringMatching(UUID_V7),
        amount: 5000,
        commissionAmount: null,
        commissionPayer: 'merchant',
        settlementModel: 'split',
        status: 'pending',
        sessionStatus: 'pending',
        blockchainId: null,
        tokenAmount: null,
        transactionHash: null,
        paidAt: null,
        expiresAt: iso(60),
        createdAt: iso(),
        redirectUrl: 'https://shop.example.com/thanks?order=1',
        customerReferenceId: 'order-1',
        cancellationReason: null,
        lastError: null,
      },
      checkoutUrl: expect.stringMatching(
        /^https:\/\/pay\.example\.test\/checkout\/[A-Za-z0-9_-]{43}$/,
      ),
    });
  });

  test('equals the payment as it is read afterwards', async () => {
    const { prompt } = await createPrompt(service, shop, { amount: 777 });
    const read = await send(service, shop, { path: `/external/v1/payments/${prompt.id}` });
    expect(read.json()).toEqual(prompt);
  });

  test('has another ID and another checkout URL every time', async () => {
    const [first, second] = [
      await createPrompt(service, shop, { amount: 5000 }),
      await createPrompt(service, shop, { amount: 5000 }),
    ];
    expect(first.prompt.id).not.toBe(second.prompt.id);
    expect(first.checkoutUrl).not.toBe(second.checkoutUrl);
  });
});

describe('what the account determines', () => {
  test('direct settlement costs no commission, split leaves it undetermined', async () => {
    const direct = await addMerchant(service, { settlement: 'direct', commissionBps: 100 });
    const split = await addMerchant(service, {
      settlement: 'split',
      commissionBps: 100,
      commissionPayer: 'shopper',
    });
    expect((await createPrompt(service, direct, { amount: 5000 })).prompt).toMatchObject({
      settlementModel: 'direct',
      commissionAmount: 0,
      commissionPayer: 'merchant',
    });
    expect((await createPrompt(service, split, { amount: 5000 })).prompt).toMatchObject({
      settlementModel: 'split',
      commissionAmount: null,
      commissionPayer: 'shopper',
    });
  });

  test('US accounts get the regulated flow, also with a list of networks', async () => {
    const us = await addMerchant(service, { kind: 'us', settlement: 'direct', addresses: {} });
    for (const body of [{ amount: 5000 }, { amount: 5000, blockchainIds: ['btc', 'sol'] }]) {
      const { prompt, checkoutUrl } = await createPrompt(service, us, body);
      expect(prompt).toMatchObject({
        settlementModel: null,
        commissionAmount: null,
        blockchainId: null,
        tokenAmount: null,
        status: 'pending',
        sessionStatus: 'pending',
      });
      expect(Date.parse(prompt.expiresAt)).toBeGreaterThan(service.clock.now);
      expect(checkoutUrl).not.toContain('/checkout/');
    }
    const offered = await service.db
      .selectFrom('payments')
      .select(['flow', 'offered_blockchain_ids'])
      .where('merchant_id', '=', us.merchant.id)
      .execute();
    expect(offered).toEqual(Array(2).fill({ flow: 'regulated', offered_blockchain_ids: [] }));
  });

  test('a payment expires with the longest window of the networks it offers', async () => {
    const windowOf = async (blockchainIds?: string[]) => {
      const { prompt } = await createPrompt(service, shop, { amount: 5000, blockchainIds });
      return (Date.parse(prompt.expiresAt) - service.clock.now) / MINUTE_MS;
    };
    expect(await windowOf()).toBe(60);
    expect(await windowOf(['eth'])).toBe(30);
    expect(await windowOf(['eth', 'btc'])).toBe(60);
    await setNetwork(operatorOf(service), 'eth', { windowMinutes: 240 });
    expect(await windowOf()).toBe(240);
    expect(await windowOf(['btc'])).toBe(60);
    await setNetwork(operatorOf(service), 'eth', { windowMinutes: 30 });
  });
});

describe('what is written', () => {
  test('one payment with everything the later flow needs', async () => {
    const merchant = await addMerchant(service, { commissionBps: 250 });
    const { prompt } = await createPrompt(service, merchant, {
      amount: 12_345,
      blockchainIds: ['eth'],
      note: 'For the ledger',
    });
    const rows = await service.db
      .selectFrom('payments')
      .selectAll()
      .where('merchant_id', '=', merchant.merchant.id)
      .execute();
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({
      id: prompt.id,
      branch_id: (await findMainBranch(service.db, merchant.merchant.id))?.id,
      partner_id: null,
      created_by: merchant.keyId,
      flow: 'crypto',
      amount: 12_345,
      commission_bps: 250,
      offered_blockchain_ids: ['eth'],
      note: 'For the ledger',
      external_id: null,
      created_at: new Date(service.clock.now),
    });
  });

  test('exactly one event, whose snapshot is the payment and externalId', async () => {
    const { prompt } = await createPrompt(service, shop, { amount: 5000 });
    const events = await service.db
      .selectFrom('events')
      .selectAll()
      .where('payment_id', '=', prompt.id)
      .execute();
    expect(events).toEqual([
      {
        id: expect.stringMatching(UUID_V7),
        merchant_id: shop.merchant.id,
        payment_id: prompt.id,
        type: 'payment_prompt.created',
        created_at: new Date(prompt.createdAt),
        data: { ...prompt, externalId: null },
        traceparent: null,
        tracestate: null,
      },
    ]);
  });

  test('the checkout token only as its hash', async () => {
    const { prompt, checkoutUrl } = await createPrompt(service, shop, { amount: 5000 });
    const token = checkoutUrl.slice(checkoutUrl.lastIndexOf('/') + 1);
    const { rows } = await sql<{ hash: Buffer; text: string }>`
      select checkout_token_hash as hash, to_json(payments)::text || data::text as text
      from payments join events on events.payment_id = payments.id
      where payments.id = ${prompt.id}`.execute(service.db);
    expect(rows[0]?.hash).toEqual(createHash('sha256').update(token).digest());
    expect(rows[0]?.text).not.toContain(token);
    expect(JSON.stringify(service.logs)).not.toContain(token);
  });

  test('a stored response only with an idempotency key', async () => {
    const before = await countWritten(service.db);
    await createPrompt(service, shop, { amount: 5000 });
    await createPrompt(service, shop, { amount: 5000 }, { 'idempotency-key': 'one' });
    expect(await countWritten(service.db)).toEqual({
      payments: before.payments + 2,
      events: before.events + 2,
      responses: before.responses + 1,
    });
  });

  test('an offer of every configured active network, in the documented order', async () => {
    const { 'tron-usdc': tron, 'btc-test': test, btc } = ADDRESSES;
    const merchant = await addMerchant(service, {
      addresses: { 'tron-usdc': tron, 'btc-test': test, btc },
    });
    await createPrompt(service, merchant, { amount: 5000 });
    const row = await service.db
      .selectFrom('payments')
      .select('offered_blockchain_ids')
      .where('merchant_id', '=', merchant.merchant.id)
      .executeTakeFirstOrThrow();
    expect(row.offered_blockchain_ids).toEqual(['btc', 'btc-test']);
  });
});
