import { afterAll, beforeAll, expect, test } from 'vitest';
import { setAddress } from '../../src/accounts/deposit-addresses.ts';
import { observeTransfer } from '../../src/settlement/observe-transfer.ts';
import { ADDRESSES, addMerchant, type MerchantWithKey, operatorOf } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { openCheckout } from '../helpers/checkout.ts';
import { addMerchantUser, open, submit, textOf, type Visitor } from '../helpers/panel.ts';

const OWN = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const OTHERS = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';

let service: TestApp;
let shop: MerchantWithKey;
let admin: Visitor;
let path: string;
let serial = 0;

beforeAll(async () => {
  service = await startTestApp();
  shop = await addMerchant(service, { addresses: { 'eth-test': OWN } });
  await addMerchant(service, { addresses: { 'eth-test': OTHERS } });
  admin = await addMerchantUser(service, shop.merchant.id, 'admin');
  path = `/panel/merchants/${shop.merchant.id}/unmatched`;
});
afterAll(() => service.close());

/** A deposit that no payment takes. */
function arrive(address: string, tokenAmount = 12_345n) {
  serial += 1;
  const now = new Date(service.clock.now);
  const transfer = {
    ...{
      blockchainId: 'eth-test',
      transactionHash: `0x${serial}`,
      position: 0,
      address,
      tokenAmount,
    },
    ...{ blockHeight: null, blockHash: null, occurredAt: now },
    ...({ finality: 'final', source: 'simulation' } as const),
  };
  return observeTransfer(service.db, transfer, now);
}

test('the inbox has what arrived at addresses that only this merchant ever had', async () => {
  expect(textOf(await open(service, path, admin))).toContain('Nothing waits.');
  const own = await arrive(OWN);
  const foreign = await arrive(OTHERS);
  const list = await open(service, path, admin);
  expect(list.body).toContain(own.id);
  expect(list.body).not.toContain(foreign.id);
  expect((await open(service, `${path}/${foreign.id}`, admin)).statusCode).toBe(404);
  const home = await open(service, path.replace('/unmatched', ''), admin);
  expect(textOf(home)).toContain('1 deposit that no payment took');
  const dismissed = await submit(
    service,
    `${path}/${own.id}/dismiss`,
    { note: 'sent back' },
    admin,
  );
  expect(dismissed.statusCode).toBe(303);
  expect(textOf(await open(service, path, admin))).toContain('Nothing waits.');
});

test('an address that another merchant has as well, or had, is nobody’s', async () => {
  const address = ADDRESSES['eth-test'];
  const former = await addMerchant(service, { addresses: { 'eth-test': address } });
  const present = await addMerchant(service, { addresses: { 'eth-test': address } });
  const operator = operatorOf(service);
  await setAddress(operator, { merchantId: former.merchant.id }, 'eth-test', OTHERS);
  const deposit = await arrive(address);
  const user = await addMerchantUser(service, present.merchant.id, 'admin');
  const inbox = `/panel/merchants/${present.merchant.id}/unmatched`;
  expect((await open(service, `${inbox}/${deposit.id}`, user)).statusCode).toBe(404);
});

test('a deposit is dismissed with a note alone', async () => {
  const { id } = await arrive(OWN);
  const refused = await submit(service, `${path}/${id}/dismiss`, { note: ' ' }, admin);
  expect(refused.statusCode).toBe(422);
  expect(textOf(refused)).toContain('how it was settled');
  await submit(service, `${path}/${id}/dismiss`, { note: 'sent back' }, admin);
  const entry = await service.db
    .selectFrom('audit_log')
    .selectAll()
    .where('object_id', '=', id)
    .executeTakeFirstOrThrow();
  expect(entry).toMatchObject({ actor: admin.email, detail: { note: 'sent back' } });
});

test('a deposit is assigned to a payment that waits there, which then is paid', async () => {
  const checkout = await openCheckout(service, shop);
  await checkout.pick('eth-test');
  const { token_amount: amount } = await checkout.payment();
  const deposit = await arrive(OWN, BigInt(amount ?? 0) * 2n);
  const page = await open(service, `${path}/${deposit.id}`, admin);
  expect(textOf(page)).toContain('far more than its payment asks for');
  expect(textOf(page)).toContain('$50.00');
  const member = await addMerchantUser(service, shop.merchant.id, 'member');
  expect((await open(service, `${path}/${deposit.id}`, member)).body).not.toContain('Assign<');
  const form = { payment: checkout.paymentId };
  expect((await submit(service, `${path}/${deposit.id}/assign`, form, admin)).statusCode).toBe(303);
  expect((await checkout.payment()).status).toBe('successful');
});

test('a deposit is assigned to no payment of another merchant', async () => {
  const other = await addMerchant(service, { addresses: { 'eth-test': OTHERS } });
  const checkout = await openCheckout(service, other);
  const { id } = await arrive(OWN);
  const form = { payment: checkout.paymentId };
  expect((await submit(service, `${path}/${id}/assign`, form, admin)).statusCode).toBe(404);
});
