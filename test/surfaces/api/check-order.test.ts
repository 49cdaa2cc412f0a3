import { afterAll, beforeAll, expect, test } from 'vitest';
import { tryLockIdempotencyKey } from '#storage/repositories/payments/idempotency-keys.ts';
import { addKey, addMerchant, type MerchantWithKey } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { expectRefusal } from '../../helpers/refusal.ts';
import { type SignedRequest, send } from '../../helpers/signed-request.ts';

const PATH = '/external/v1/payments/prompt';
const BROKEN = '{"amount":';
const INVALID = { amount: 5 };
/** Valid, but the merchant has no address there. */
const REFUSED = { amount: 5000, blockchainIds: ['sol'] };
const TOO_LONG = 'k'.repeat(256);

let service: TestApp;
let shop: MerchantWithKey;
beforeAll(async () => {
  service = await startTestApp();
  shop = await addMerchant(service);
});
afterAll(() => service.close());

/** The authentication tests cover the order up to the scope; these cover the rest of a creation. */
function create(body: unknown, key: string, request: Partial<SignedRequest> = {}) {
  const headers = { 'idempotency-key': key, ...request.headers };
  return send(service, shop, { path: PATH, body, ...request, headers });
}

/** Holds an idempotency key like an original request in flight, on another connection. */
function whileInFlight(key: string, check: () => Promise<void>): Promise<void> {
  return service.db.transaction().execute(async tx => {
    const scope = { accountId: shop.merchant.id, route: `POST ${PATH}`, key };
    expect(await tryLockIdempotencyKey(tx, scope)).toBe(true);
    await check();
  });
}

test('the scope before the body', async () => {
  const reader = await addKey(
    service,
    { merchantId: shop.merchant.id },
    { scopes: ['payment_prompts:read'] },
  );
  expectRefusal(await send(service, reader, { path: PATH, body: BROKEN }), 'E2101');
});

test('a readable body before the idempotency key', async () => {
  expectRefusal(await create(BROKEN, TOO_LONG), 'E1000');
  expectRefusal(await create('', TOO_LONG, { method: 'POST' }), 'E1000');
  const headers = { 'content-type': 'text/plain' };
  expectRefusal(await create({ amount: 5000 }, TOO_LONG, { headers }), 'E1000');
});

test("the idempotency key before the body's and the query's fields", async () => {
  expectRefusal(await create(INVALID, TOO_LONG), 'E4001');
  expectRefusal(await create({ amount: 5000, unknown: 1 }, TOO_LONG), 'E4001');
  expectRefusal(await create({ amount: 5000 }, TOO_LONG, { path: `${PATH}?unknown=1` }), 'E4001');
});

test('a different body under the same key before its fields', async () => {
  const key = crypto.randomUUID();
  expect((await create({ amount: 5000 }, key)).statusCode).toBe(201);
  expectRefusal(await create(INVALID, key), 'E4002');
});

test('the fields before an original in flight', async () => {
  const key = crypto.randomUUID();
  await whileInFlight(key, async () => {
    expectRefusal(await create(INVALID, key), 'E1001', 'amount');
    expectRefusal(await create({ amount: 5000, unknown: 1 }, key), 'E1002', 'unknown');
  });
});

test('an original in flight before the business rules', async () => {
  const key = crypto.randomUUID();
  await whileInFlight(key, async () => {
    expectRefusal(await create(REFUSED, key), 'E4003');
  });
  expectRefusal(await create(REFUSED, key), 'E1020', 'blockchainIds');
});
