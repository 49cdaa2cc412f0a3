import { afterAll, beforeAll, expect, test } from 'vitest';
import { observeTransfer } from '#onchain/settlement/observe-transfer.ts';
import { ADDRESSES, addMerchant, type MerchantWithKey } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { openCheckout } from '../../helpers/checkout.ts';
import { simulatedTransfer } from '../../helpers/see-transfer.ts';

let service: TestApp;
let shop: MerchantWithKey;

beforeAll(async () => {
  service = await startTestApp();
  const { 'btc-test': btc, 'eth-test': eth } = ADDRESSES;
  shop = await addMerchant(service, { addresses: { 'btc-test': btc, 'eth-test': eth } });
});
afterAll(() => service.close());

const choices = ({ body }: { readonly body: string }) =>
  [...body.matchAll(/name="network" value="([\w-]+)"/g)].map(([, id]) => id);

test('a network is not offered for less than wallets can send on it', async () => {
  // P2WPKH: 588 satoshi; a cent is ten.
  const cheap = await openCheckout(service, shop, { amount: 58 });
  expect(choices(await cheap.get())).toEqual(['eth-test']);
  const dearer = await openCheckout(service, shop, { amount: 59 });
  expect(choices(await dearer.get()).toSorted()).toEqual(['btc-test', 'eth-test']);
});

test('a rest that no wallet could send is raised to the least that can be sent, and the page says so', async () => {
  const checkout = await openCheckout(service, shop, { amount: 4_567 });
  await checkout.pick('btc-test');
  const { address, token_amount: asked } = await checkout.payment();
  const now = new Date(service.clock.now);
  const arrive = (transactionHash: string, tokenAmount: bigint) =>
    observeTransfer(
      service.db,
      simulatedTransfer({
        blockchainId: 'btc-test',
        address: address ?? '',
        transactionHash,
        tokenAmount,
        blockHeight: 1,
        occurredAt: now,
      }),
      now,
    );
  await arrive('short', BigInt(asked ?? 0) - 71n);
  const page = (await checkout.get()).body;
  expect(page).toMatch(/Send exactly 0\.000005\d+\u00a0tBTC more/);
  expect(page).toContain('That is more than what is missing: wallets send no less.');
  const other = await openCheckout(service, shop, { amount: 8_000 });
  await other.pick('btc-test');
  const { token_amount: much } = await other.payment();
  await arrive('half', BigInt(much ?? 0) - 20_000n);
  const usual = (await other.get()).body;
  expect(usual).not.toContain('wallets send no less');
});
