import { afterAll, beforeAll, expect, test } from 'vitest';
import { revokeKey } from '../../src/keys/manage-keys.ts';
import { addMerchant, operatorOf } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { addMerchantUser, open, textOf } from '../helpers/panel.ts';
import { addPayment } from '../helpers/payments.ts';

let service: TestApp;

beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

async function homeOf(merchantId: string, isDemo: boolean): Promise<string> {
  const { cookie } = await addMerchantUser(service, merchantId, 'admin', { isDemo });
  return textOf(await open(service, `/panel/merchants/${merchantId}`, { cookie }));
}

test('without payments it leads to the first one, and speaks of the demo in the demo alone', async () => {
  const { merchant } = await addMerchant(service);
  const own = await homeOf(merchant.id, false);
  expect(own).toContain('No payment yet. Make an API key');
  expect(own).toContain('Nothing from 2026-04-18 to 2026-05-17.');
  expect(own).not.toContain("demo's key");
  expect(await homeOf(merchant.id, true)).toContain("demo's key");
});

test('it shows what was paid today, in seven days and in thirty', async () => {
  const { merchant } = await addMerchant(service);
  const day = 24 * 60 * 60_000;
  for (const [amount, days] of [
    [1_000, 0],
    [2_000, 6],
    [4_000, 7],
    [8_000, 29],
    [16_000, 30],
  ] as const) {
    const at = new Date(service.clock.now - days * day);
    await addPayment(service.db, merchant, {
      ...{ amount, created_at: at, paid_at: at, transaction_hash: '0x1', blockchain_id: 'eth' },
      ...{ status: 'successful', session_status: 'completed' },
    });
  }
  const page = await homeOf(merchant.id, false);
  expect(page).toContain('Today $10.00 1 paid 7 days $30.00 2 paid 30 days $150.00 4 paid');
  expect(page).toContain('highest day $80.00');
});

test('it says what is missing until a first payment can settle, and what helps', async () => {
  const { merchant, keyId } = await addMerchant(service, { addresses: {} });
  await revokeKey(operatorOf(service), keyId);
  const page = await homeOf(merchant.id, false);
  expect(page).toContain('Until a first payment can settle The main branch has no address');
  expect(page).toContain(`Ask your operator: mp address set --merchant ${merchant.id}`);
  expect(page).toContain('nothing to sign its requests with. Create a key');
  const { cookie } = await addMerchantUser(service, merchant.id, 'member');
  const seen = textOf(await open(service, `/panel/merchants/${merchant.id}`, { cookie }));
  expect(seen).toContain(`Ask your operator: mp key create --merchant ${merchant.id}`);
});

test('what is advised is said until a first payment has settled', async () => {
  const { merchant } = await addMerchant(service);
  const before = await homeOf(merchant.id, false);
  expect(before).toContain('Before you go live No domain is allowed');
  expect(before).not.toContain('Nobody signs in');
  const at = new Date(service.clock.now);
  await addPayment(service.db, merchant, {
    ...{ created_at: at, paid_at: at, transaction_hash: '0x2', blockchain_id: 'eth' },
    ...{ status: 'successful', session_status: 'completed' },
  });
  expect(await homeOf(merchant.id, false)).not.toContain('No domain is allowed');
});
