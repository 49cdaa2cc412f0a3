import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkAddress } from '#accounts/address-changes.ts';
import { addAddress, setAddress } from '#accounts/deposit-addresses.ts';
import type { Credentials } from '#client/index.ts';
import { findMainBranch } from '#storage/repositories/accounts/merchants.ts';
import {
  ADDRESSES,
  addMerchant,
  addPartner,
  type MerchantWithKey,
  operatorOf,
} from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { createPrompt, expectRefusal, requestPrompt } from '../helpers/prompts.ts';
import { startStripeServer } from '../payments/processors/stripe-server.ts';

const REFUSED = 'A test merchant has addresses on test networks alone, and btc is a main network.';

let service: TestApp;
let shop: MerchantWithKey;
beforeAll(async () => {
  service = await startTestApp();
  const addresses = { 'btc-test': ADDRESSES['btc-test'], 'eth-test': ADDRESSES['eth-test'] };
  shop = await addMerchant(service, { environment: 'test', addresses });
});
afterAll(() => service.close());

/** The networks that a payment of 5 dollars is offered on. */
async function offeredTo(key: Credentials, merchantId?: string): Promise<string[]> {
  const { prompt } = await createPrompt(service, key, { amount: 500, merchantId });
  const { offered_blockchain_ids: offered } = await service.db
    .selectFrom('payments')
    .select('offered_blockchain_ids')
    .where('id', '=', prompt.id)
    .executeTakeFirstOrThrow();
  return offered;
}

test('a test merchant gets no address on a main network, whichever way is used', async () => {
  const operator = operatorOf(service);
  const merchantId = shop.merchant.id;
  const branch = await findMainBranch(service.db, merchantId);
  const branchId = branch?.id ?? '';
  for (const change of [setAddress, addAddress]) {
    await expect(change(operator, { merchantId }, 'btc', ADDRESSES.btc)).rejects.toThrow(REFUSED);
  }
  const wanted = { kind: 'address.set', merchantId, branchId, blockchainId: 'btc' } as const;
  await expect(
    checkAddress(service.db, { ...wanted, text: ADDRESSES.btc }, new Date()),
  ).rejects.toThrow(REFUSED);
  const row = { branch_id: branchId, blockchain_id: 'btc', address: ADDRESSES.btc };
  const updated_at = new Date(service.clock());
  await expect(
    service.db
      .insertInto('deposit_addresses')
      .values({ ...row, updated_at })
      .execute(),
  ).rejects.toThrow('a test merchant has no address on btc');
  await expect(
    service.db
      .updateTable('deposit_addresses')
      .set({ blockchain_id: 'btc' })
      .where('branch_id', '=', branchId)
      .where('blockchain_id', '=', 'btc-test')
      .execute(),
  ).rejects.toThrow('a test merchant has no address on btc');
});

test('it is offered only test networks, and main ones are refused like those without an address', async () => {
  expect(await offeredTo(shop)).toEqual(['btc-test', 'eth-test']);
  expectRefusal(
    await requestPrompt(service, shop, { amount: 500, blockchainIds: ['btc', 'btc-test'] }),
    'E1020',
    'blockchainIds',
  );
  const { partner, ...key } = await addPartner(service);
  const linked = await addMerchant(service, {
    environment: 'test',
    partnerId: partner.id,
    addresses: { 'btc-test': ADDRESSES['btc-test'] },
  });
  expect(await offeredTo(key, linked.merchant.id)).toEqual(['btc-test']);
});

test('responses do not reveal the environment', async () => {
  const { prompt, checkoutUrl } = await createPrompt(service, shop, { amount: 500 });
  const live = await addMerchant(service);
  const other = await createPrompt(service, live, { amount: 500 });
  expect(Object.keys(prompt)).toEqual(Object.keys(other.prompt));
  expect(checkoutUrl).toMatch(/^https:\/\/pay\.example\.test\/checkout\/[\w-]{43}$/);
  expect(shop.keyId).toMatch(/^mpk_[0-9a-f]{24}$/);
});

test('a live merchant may have test networks too', async () => {
  const addresses = { btc: ADDRESSES.btc, 'btc-test': ADDRESSES['btc-test'] };
  const live = await addMerchant(service, { addresses });
  expect(await offeredTo(live)).toEqual(['btc', 'btc-test']);
});

test('a US test merchant pays through the sandbox, whatever the processor', async () => {
  const stripe = await startStripeServer();
  stripe.answer = stripe.openSession;
  const paid = async (mode: 'live' | 'test') => {
    const STRIPE_SECRET_KEY = `sk_${mode}_nobody_may_read_this`;
    const us = await startTestApp({ env: { ...stripe.env, STRIPE_SECRET_KEY } });
    try {
      const options = { kind: 'us', addresses: {} } as const;
      const merchants = [
        await addMerchant(us, { ...options, environment: 'test' }),
        await addMerchant(us, options),
      ];
      return await Promise.all(merchants.map(key => requestPrompt(us, key, { amount: 500 })));
    } finally {
      await us.close();
    }
  };
  for (const mode of ['test', 'live'] as const) {
    stripe.received.length = 0;
    const [test, live] = await paid(mode);
    expect([test?.statusCode, live?.statusCode]).toEqual([201, 201]);
    expect(test?.json().checkoutUrl).toContain('/processor/sandbox/');
    expect(live?.json().checkoutUrl).not.toContain('/processor/sandbox/');
    expect(stripe.received).toHaveLength(1);
  }
  await stripe.close();
});

test('the environment never changes', async () => {
  const live = await addMerchant(service);
  for (const [id, environment] of [
    [shop.merchant.id, 'live'],
    [live.merchant.id, 'test'],
  ] as const) {
    await expect(
      service.db.updateTable('merchants').set({ environment }).where('id', '=', id).execute(),
    ).rejects.toThrow(`the environment of merchant ${id} never changes`);
  }
});
