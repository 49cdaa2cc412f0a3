import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addKey, addMerchant, addPartner, type MerchantWithKey } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { addPayment } from '../../helpers/payments.ts';
import { expectRefusal } from '../../helpers/prompts.ts';
import { send } from '../../helpers/signed-request.ts';

const BASE = '/external/v1/payments';

let service: TestApp;
let shop: MerchantWithKey;
let other: MerchantWithKey;
let own: string;
let foreign: string;

beforeAll(async () => {
  service = await startTestApp();
  shop = await addMerchant(service);
  other = await addMerchant(service);
  const created_at = new Date('2026-01-01');
  own = (await addPayment(service.db, shop.merchant, { created_at })).id;
  foreign = (await addPayment(service.db, other.merchant, { created_at })).id;
});
afterAll(() => service.close());

const get = (path: string, key = shop) => send(service, key, { path: BASE + path });

test('returns everything known about a payment', async () => {
  const payment = await addPayment(service.db, other.merchant, {
    created_at: new Date('2026-02-03T04:05:06.007Z'),
    expires_at: new Date('2026-02-03T05:05:06.007Z'),
    amount: 100_000_000,
    commission_amount: 1_000_000,
    commission_payer: 'shopper',
    status: 'successful',
    session_status: 'completed',
    blockchain_id: 'eth',
    token_amount: '12345678901234567890123',
    token_decimals: 18,
    transaction_hash: '0xabc',
    paid_at: new Date('2026-02-03T04:06:00.100Z'),
    redirect_url: 'https://shop.example.com/',
    customer_reference_id: 'order 7',
    cancellation_reason: 'none',
    last_error_code: 'insufficient_funds',
    last_error_message: 'First try was too low',
    last_error_at: new Date('2026-02-03T04:05:30Z'),
    note: 'not shown',
  });
  const response = await get(`/${payment.id}`, other);
  expect(response.statusCode).toBe(200);
  expect(response.json()).toEqual({
    object: 'payment_prompt',
    id: payment.id,
    amount: 100_000_000,
    commissionAmount: 1_000_000,
    commissionPayer: 'shopper',
    settlementModel: 'split',
    status: 'successful',
    sessionStatus: 'completed',
    blockchainId: 'eth',
    tokenAmount: '12345.678901234567890123',
    transactionHash: '0xabc',
    paidAt: '2026-02-03T04:06:00.100Z',
    expiresAt: '2026-02-03T05:05:06.007Z',
    createdAt: '2026-02-03T04:05:06.007Z',
    redirectUrl: 'https://shop.example.com/',
    customerReferenceId: 'order 7',
    cancellationReason: 'none',
    lastError: {
      code: 'insufficient_funds',
      message: 'First try was too low',
      occurredAt: '2026-02-03T04:05:30.000Z',
    },
  });
  const list = await get('?status=successful', other);
  expect(list.json()).toEqual({ object: 'list', data: [response.json()], hasMore: false });
});

test('takes the ID in upper case', async () => {
  expect((await get(`/${own.toUpperCase()}`)).json().id).toBe(own);
});

test('gives the same response for a foreign and a missing payment', async () => {
  const answers = [await get(`/${foreign}`), await get(`/${uuidv7()}`)];
  for (const answer of answers) expectRefusal(answer, 'E3001');
  const [first, second] = answers.map(answer => ({ ...answer.json().error, requestId: null }));
  expect(first).toEqual(second);
});

test('refuses an ID that is no UUID, and any query', async () => {
  for (const id of ['1', 'prompt', `${own}x`, '%00']) {
    expectRefusal(await get(`/${id}`), 'E1001', 'id');
  }
  expectRefusal(await get(`/${own}?expand=all`), 'E1002', 'expand');
});
test('partner keys may not read, nor may keys without the scope', async () => {
  const partner = await addPartner(service);
  const writer = await addKey(
    service,
    { merchantId: shop.merchant.id },
    { scopes: ['payment_prompts:write'] },
  );
  for (const path of ['', `/${own}`]) {
    expectRefusal(await send(service, partner, { path: BASE + path }), 'E2008');
    expectRefusal(await send(service, writer, { path: BASE + path }), 'E2101');
  }
});
