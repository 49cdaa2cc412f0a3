import { afterAll, beforeAll, expect, test } from 'vitest';
import { setMerchant } from '#accounts/merchants.ts';
import {
  addKey,
  addMerchant,
  addPartner,
  type MerchantWithKey,
  operatorOf,
  type PartnerWithKey,
} from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { countWritten, createPrompt, expectRefusal, requestPrompt } from '../../helpers/prompts.ts';

let service: TestApp;
let partner: PartnerWithKey;
let linked: MerchantWithKey;

beforeAll(async () => {
  service = await startTestApp();
  partner = await addPartner(service);
  linked = await addMerchant(service, {
    partnerId: partner.partner.id,
    domains: ['linked.example.com'],
  });
});
afterAll(() => service.close());

async function refuses(
  body: Record<string, unknown>,
  errorCode: Parameters<typeof expectRefusal>[1],
  param?: string,
) {
  const before = await countWritten(service.db);
  const response = await requestPrompt(service, partner, { amount: 5000, ...body });
  expectRefusal(response, errorCode, param);
  expect(await countWritten(service.db)).toEqual(before);
}

test('creates the cents-based payment object for a merchant of the partner', async () => {
  const { prompt, checkoutUrl } = await createPrompt(service, partner, {
    amount: 5000,
    merchantId: linked.merchant.id,
    redirectUrl: 'https://linked.example.com/',
  });
  expect(prompt).toMatchObject({ object: 'payment_prompt', amount: 5000, status: 'pending' });
  expect(checkoutUrl).toContain('/checkout/');
  const row = await service.db
    .selectFrom('payments')
    .select(['merchant_id', 'partner_id', 'created_by'])
    .where('id', '=', prompt.id)
    .executeTakeFirst();
  expect(row).toEqual({
    merchant_id: linked.merchant.id,
    partner_id: partner.partner.id,
    created_by: partner.keyId,
  });
});

test('takes the merchant in upper case, as UUIDs may be written', () =>
  createPrompt(service, partner, {
    amount: 5000,
    merchantId: linked.merchant.id.toUpperCase(),
  }));

test('E1001 without a merchantId, or with one that is no UUID', async () => {
  await refuses({}, 'E1001', 'merchantId');
  for (const merchantId of ['', 'linked', 7, null, linked.merchant.id.slice(1)]) {
    await refuses({ merchantId }, 'E1001', 'merchantId');
  }
});

test('E3001 for a merchant without a partner, of another partner, and for one that does not exist', async () => {
  const other = await addPartner(service);
  const foreign = await addMerchant(service, { partnerId: other.partner.id });
  const alone = await addMerchant(service);
  for (const { id } of [foreign.merchant, alone.merchant, other.partner, partner.partner]) {
    await refuses({ merchantId: id }, 'E3001', 'merchantId');
  }
  // The state of another partner's merchant does not tell it from a missing one, either.
  await setMerchant(operatorOf(service), foreign.merchant.id, { status: 'inactive' });
  await refuses({ merchantId: foreign.merchant.id }, 'E3001', 'merchantId');
});

test('E2008 for an inactive merchant, E2102 for a US merchant that is not approved', async () => {
  const inactive = await addMerchant(service, { partnerId: partner.partner.id });
  await setMerchant(operatorOf(service), inactive.merchant.id, { status: 'inactive' });
  await refuses({ merchantId: inactive.merchant.id }, 'E2008');

  const us = await addMerchant(service, {
    kind: 'us',
    partnerId: partner.partner.id,
    approved: false,
  });
  await refuses({ merchantId: us.merchant.id }, 'E2102');
  await setMerchant(operatorOf(service), us.merchant.id, { onboarding: 'rejected' });
  await refuses({ merchantId: us.merchant.id }, 'E2102');
  await setMerchant(operatorOf(service), us.merchant.id, { onboarding: 'approved' });
  const { prompt } = await createPrompt(service, partner, {
    amount: 5000,
    merchantId: us.merchant.id,
  });
  expect(prompt.settlementModel).toBeNull();
});

test("the merchant's own configuration applies", async () => {
  const { id } = linked.merchant;
  const bare = await addMerchant(service, { partnerId: partner.partner.id, addresses: {} });
  const branchless = await addMerchant(service, {
    partnerId: partner.partner.id,
    withoutMainBranch: true,
  });
  await refuses({ merchantId: id, redirectUrl: 'https://other.example/' }, 'E1012', 'redirectUrl');
  await refuses({ merchantId: id, blockchainIds: ['sol'] }, 'E1020', 'blockchainIds');
  await refuses({ merchantId: bare.merchant.id }, 'E1020');
  await refuses({ merchantId: branchless.merchant.id }, 'E1030');
});

test('switched-off self-service stops the merchant, not the partner', async () => {
  const strict = await addPartner(service, { selfService: false });
  const merchant = await addMerchant(service, { partnerId: strict.partner.id });
  await createPrompt(service, strict, { amount: 5000, merchantId: merchant.merchant.id });
  expectRefusal(await requestPrompt(service, merchant, { amount: 5000 }), 'E2103');
});

test('developer keys may not create', async () => {
  const developer = await addPartner(service, { role: 'developer' });
  const response = await requestPrompt(service, developer, {
    amount: 5000,
    merchantId: linked.merchant.id,
  });
  expectRefusal(response, 'E2101');
});

test('idempotency keys belong to the partner account, across its keys and merchants', async () => {
  const body = { amount: 5000, merchantId: linked.merchant.id };
  const header = { 'idempotency-key': 'partner-order' };
  const second = await addKey(service, { memberId: partner.member.id });
  const first = await requestPrompt(service, partner, body, header);
  const replay = await requestPrompt(service, second, body, header);
  expect(first.statusCode).toBe(201);
  expect(replay.headers['idempotent-replayed']).toBe('true');
  expect(replay.body).toBe(first.body);

  const another = await addMerchant(service, { partnerId: partner.partner.id });
  const mismatch = { amount: 5000, merchantId: another.merchant.id };
  expectRefusal(await requestPrompt(service, second, mismatch, header), 'E4002');

  // The merchant's own key belongs to another account.
  const own = await requestPrompt(service, linked, { amount: 5000 }, header);
  expect(own.statusCode).toBe(201);
  expect(own.headers['idempotent-replayed']).toBeUndefined();
});
