import { afterAll, beforeAll, expect, test } from 'vitest';
import { findReturns } from '#storage/repositories/deposits/returns.ts';
import { addMerchant, type MerchantWithKey } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { openCheckout } from '../../helpers/checkout.ts';
import { releaseAll } from '../../helpers/open-payment.ts';
import {
  addMerchantUser,
  noticeOf,
  open,
  SURE,
  submit,
  textOf,
  type Visitor,
} from '../../helpers/panel.ts';

/** How the parts of an ended payment are shown, and how their return is recorded. */

const SUBMIT = 'Record that it was given back';
const GIVEN = { to: 'Ada', hash: '0xback', note: 'ticket 7' };

let service: TestApp;
let shop: MerchantWithKey;
let admin: Visitor;
let member: Visitor;

beforeAll(async () => {
  service = await startTestApp();
  shop = await addMerchant(service);
  admin = await addMerchantUser(service, shop.merchant.id, 'admin');
  member = await addMerchantUser(service, shop.merchant.id, 'member');
});
afterAll(() => service.close());

/** A payment of a merchant that got half of what it asked for, and has ended unless it is left open. */
async function addUnderpaid(of: MerchantWithKey = shop, { isOpen = false } = {}) {
  await releaseAll(service.db);
  const checkout = await openCheckout(service, of);
  await checkout.pick('eth');
  await checkout.simulate('under');
  const part = await service.db
    .selectFrom('deposits')
    .selectAll()
    .where('payment_id', '=', checkout.paymentId)
    .executeTakeFirstOrThrow();
  if (!isOpen) await checkout.simulate('expire');
  service.clock.now += 1_000;
  const path = `/panel/merchants/${of.merchant.id}/payments/${checkout.paymentId}`;
  const record = (fields: Record<string, string> = {}, visitor = admin) =>
    submit(service, `${path}/return`, { ...GIVEN, ...SURE, deposit: part.id, ...fields }, visitor);
  return { path, part, record };
}

const recorded = async (depositId: string) =>
  (await findReturns(service.db, [depositId])).get(depositId);

test('an admin records the return of a part, whose page then says so', async () => {
  const { path, part, record } = await addUnderpaid();
  const before = await open(service, path, admin);
  expect(textOf(before)).toMatch(
    /0\.00625\d* ETH on Ethereum .*: final Too little, and not completed\./,
  );
  expect(before.body).toContain(`<code>${part.transaction_hash}</code>`);
  const asked = await record({ to: ' Ada ', 'confirmation-sure': '' });
  expect(asked.statusCode).toBe(200);
  expect(textOf(asked)).toMatch(
    /Was 0\.00625\d* ETH given back\? 0\.00625\d* ETH to Ada, by 0xback \..*That cannot be changed\./,
  );
  expect(await recorded(part.id)).toBeUndefined();
  const sent = await record({ to: ' Ada ' });
  expect([sent.statusCode, sent.headers.location]).toEqual([303, path]);
  expect(noticeOf(sent)?.text).toMatch(/^Recorded: 0\.00625\d* ETH was given back to Ada\.$/);
  const at = new Date(service.clock.now);
  expect(await recorded(part.id)).toMatchObject({
    merchant_id: shop.merchant.id,
    booked_at: at,
    returned_to: 'Ada',
    transaction_hash: '0xback',
    note: 'ticket 7',
  });
  for (const visitor of [admin, member]) {
    const page = await open(service, path, visitor);
    expect(textOf(page)).toMatch(/Given back to Ada by 0xback , recorded .*\. ticket 7/);
    expect(page.body).toContain(`datetime="${at.toISOString()}"`);
    expect(page.body).not.toContain(SUBMIT);
  }
  const activity = path.replace(/payments\/.*/, 'settings/activity');
  expect(textOf(await open(service, activity, admin))).toContain('that a part was given back');
  const again = await record({ to: 'Grace' });
  expect(again.statusCode).toBe(422);
  expect(textOf(again)).toContain('It is recorded already');
  expect(await recorded(part.id)).toMatchObject({ returned_to: 'Ada' });
});

test.each([
  [{ to: ' ' }, 'Say to whom it was returned.'],
  [{ to: 'x'.repeat(201) }, 'Say to whom it was returned.'],
  [{ hash: '' }, 'Give the hash of the transaction'],
  [{ hash: '0x1 and 0x2' }, 'Give the hash of the transaction'],
  [{ note: 'two\nlines' }, 'Say it in at most 200 characters on one line.'],
])('a form with %j is refused, and keeps what was typed', async (wrong, reason) => {
  const { part, record } = await addUnderpaid();
  const page = await record(wrong);
  expect(page.statusCode).toBe(422);
  expect(textOf(page)).toContain(reason);
  for (const [name, typed] of Object.entries(GIVEN)) {
    if (!(name in wrong)) expect(page.body).toContain(`value="${typed}"`);
  }
  expect(await recorded(part.id)).toBeUndefined();
});

test('a member sees the part, and cannot record its return', async () => {
  const { path, part, record } = await addUnderpaid();
  const page = await open(service, path, member);
  expect(textOf(page)).toContain('Too little, and not completed.');
  expect(page.body).not.toContain(SUBMIT);
  expect((await record({}, member)).statusCode).toBe(403);
  expect(await recorded(part.id)).toBeUndefined();
});

test('no part of another payment, of others or of an open payment is accepted', async () => {
  const others = await addMerchant(service);
  const [own, foreign] = [await addUnderpaid(), await addUnderpaid(others)];
  const waiting = await addUnderpaid(shop, { isOpen: true });
  expect((await own.record({ deposit: foreign.part.id })).statusCode).toBe(404);
  expect((await own.record({ deposit: waiting.part.id })).statusCode).toBe(404);
  const refused = await waiting.record();
  expect(refused.statusCode).toBe(422);
  expect(textOf(refused)).toContain('is still open, and the deposit counts for it');
  expect((await foreign.record()).statusCode).toBe(404);
  const page = await open(service, waiting.path, admin);
  expect(page.body).not.toContain(SUBMIT);
  for (const { part } of [own, foreign, waiting]) expect(await recorded(part.id)).toBeUndefined();
  expect((await own.record()).statusCode).toBe(303);
});
