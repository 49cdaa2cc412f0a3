import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { removeAddress } from '#accounts/deposit-addresses.ts';
import { observeTransfer } from '#onchain/settlement/observe-transfer.ts';
import { valueDeposits } from '#onchain/settlement/value-deposits.ts';
import { formatBaseUnits } from '#payments/token-amount.ts';
import { listOwnUnmatched } from '#storage/repositories/deposits/account-deposits.ts';
import { updateDeposit } from '#storage/repositories/deposits/deposits.ts';
import { newAddress } from '../../accounts/account-of-changes.ts';
import { addMerchant, type MerchantWithKey, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { openCheckout } from '../../helpers/checkout.ts';
import {
  addMerchantUser,
  addSession,
  codeAt,
  HOST,
  noticeOf,
  open,
  SURE,
  submit,
  textOf,
  type Visitor,
  wrongCodeAt,
} from '../../helpers/panel.ts';
import { simulatedTransfer } from '../../helpers/see-transfer.ts';

const OWN = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
/** How long an admin must have been there to act as one of two. */
const DAY_MS = 24 * 60 * 60_000;
const OTHERS = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';

let service: TestApp;
let shop: MerchantWithKey;
let admin: Visitor;
let grace: Visitor;
let path: string;
let serial = 0;

beforeAll(async () => {
  service = await startTestApp({ env: { PANEL_ADDRESS_DELAY_HOURS: '24' } });
  shop = await addMerchant(service, { addresses: { 'eth-test': OWN } });
  await addMerchant(service, { addresses: { 'eth-test': OTHERS } });
  admin = await addMerchantUser(service, shop.merchant.id, 'admin');
  grace = await addMerchantUser(service, shop.merchant.id, 'admin', { name: 'Grace' });
  service.clock.now += DAY_MS;
  for (const who of [admin, grace]) who.cookie = await addSession(service, who);
  path = `/panel/merchants/${shop.merchant.id}/unmatched`;
});
afterAll(() => service.close());

/** Sends a form of a deposit whose question was answered. */
const settle = (url: string, fields: Record<string, string>, who: Visitor = admin) =>
  submit(service, url, { ...fields, ...SURE }, who);

const KEPT = { remedy: 'kept', to: '', hash: '', note: '' } as const;

/** A deposit that no payment takes. */
function arrive(address: string, tokenAmount = 12_345n) {
  serial += 1;
  const now = new Date(service.clock.now);
  const transfer = simulatedTransfer({
    blockchainId: 'eth-test',
    transactionHash: `0x${serial}`,
    address,
    tokenAmount,
    occurredAt: now,
  });
  return observeTransfer(service.db, transfer, now);
}

test('the inbox shows what arrived at addresses that only this merchant has ever had', async () => {
  expect(textOf(await open(service, path, admin))).toContain('Nothing waits.');
  const own = await arrive(OWN);
  const foreign = await arrive(OTHERS);
  const list = await open(service, path, admin);
  expect(list.body).toContain(own.id);
  expect(list.body).not.toContain(foreign.id);
  expect((await open(service, `${path}/${foreign.id}`, admin)).statusCode).toBe(404);
  const home = await open(service, path.replace('/unmatched', ''), admin);
  expect(textOf(home)).toContain('1 deposit that no payment took');
  const asked = await submit(service, `${path}/${own.id}/dismiss`, { ...KEPT }, admin);
  expect(textOf(asked)).toContain(
    'Dismiss 1 deposit? Amounts 0.000000000000012345 ETH Worth unknown What was done Kept.',
  );
  expect(textOf(await open(service, path, admin))).toContain('0.000000000000012345 ETH');
  const dismissed = await settle(`${path}/${own.id}/dismiss`, { ...KEPT });
  expect(dismissed.statusCode).toBe(303);
  expect(noticeOf(dismissed)).toEqual({ text: 'Dismissed: 1 deposit, worth unknown.' });
  expect(textOf(await open(service, path, admin))).toContain('Nothing waits.');
});

test('a deposit at an address that another merchant has too is not shown, and the page says so', async () => {
  const address = newAddress();
  const addresses = { 'eth-test': address };
  const shops = [
    await addMerchant(service, { addresses }),
    await addMerchant(service, { addresses }),
  ];
  const inboxes = await Promise.all(
    shops.map(async ({ merchant }) => {
      const user = await addMerchantUser(service, merchant.id, 'admin');
      return { user, url: `/panel/merchants/${merchant.id}/unmatched` };
    }),
  );
  const deposit = await arrive(address);
  for (const { user, url } of inboxes) {
    expect((await open(service, `${url}/${deposit.id}`, user)).statusCode).toBe(404);
    const page = textOf(await open(service, url, user)).replaceAll(' . ', '. ');
    expect(page).toContain(
      `Nothing waits. Your operator shares addresses of yours with another account: ${address}. What no payment takes there is not listed here. 1 more deposit is not shown`,
    );
    expect(page).toContain('Only your operator sees such deposits');
    for (const { merchant } of shops.filter(shop => !url.includes(shop.merchant.id))) {
      expect(page).not.toContain(merchant.id);
    }
  }
  await arrive(address);
  const [first, second] = inboxes;
  if (first === undefined || second === undefined) throw new Error('there are two');
  expect(textOf(await open(service, first.url, first.user))).toContain('2 more deposits are');
  // The first one leaves it: later deposits are the other one's.
  service.clock.now += 1000;
  await removeAddress(operatorOf(service), { merchantId: shops[0]?.merchant.id ?? '' }, 'eth-test');
  service.clock.now += 1000;
  const own = await arrive(address);
  const page = await open(service, second.url, second.user);
  expect(page.body).toContain(own.id);
  expect(textOf(page)).toContain('2 more deposits are not shown');
  expect(textOf(page)).not.toContain('Your operator shares');
});

test('a deposit is dismissed with what was done with the money', async () => {
  const { id } = await arrive(OWN);
  const dismiss = (fields: Record<string, string>) =>
    settle(`${path}/${id}/dismiss`, { to: '', hash: '', note: '', ...fields });
  for (const [fields, reason] of [
    [{}, 'Say what was done with the money.'],
    [{ remedy: 'other', note: ' ' }, 'Say how it was settled'],
    [{ remedy: 'returned', hash: '0xback' }, 'Say to whom'],
    [{ remedy: 'returned', to: 'Ada' }, 'hash of the transaction'],
  ] as const) {
    const refused = await dismiss(fields);
    expect(refused.statusCode).toBe(422);
    expect(textOf(refused)).toContain(reason);
  }
  const returned = { remedy: 'returned', to: 'Ada', hash: '0xback', note: 'ticket 7' } as const;
  expect((await dismiss(returned)).statusCode).toBe(303);
  const entry = await service.db
    .selectFrom('audit_log')
    .selectAll()
    .where('object_id', '=', id)
    .executeTakeFirstOrThrow();
  expect(entry).toMatchObject({ actor: admin.email, detail: returned });
});

describe('a full inbox', () => {
  const listed = ({ body }: { body: string }) =>
    [...body.matchAll(/unmatched\/([0-9a-f-]{36})"/g)].map(([, id]) => id);
  const more = ({ body }: { body: string }) =>
    /<a href="([^"]+)" rel="next"/.exec(body)?.[1]?.replaceAll('&amp;', '&') ?? '';
  const ids: string[] = [];

  beforeAll(async () => {
    // In ETH at $4,000, from $4 to $108; they do not arrive in the order of their values.
    const values = Array.from({ length: 27 }, (_, n) => 1 + ((n * 10) % 27));
    const arrived: [number, string][] = [];
    for (const n of values) arrived.push([n, (await arrive(OWN, BigInt(n) * 10n ** 15n)).id]);
    ids.push(...arrived.toSorted(([a], [b]) => b - a).map(([, id]) => id));
    await valueDeposits(service.db, service.rates, new Date(service.clock.now), 1_000);
    // One whose value is not known yet.
    ids.unshift((await arrive(OWN, 1n)).id);
  });

  test('lists the most valuable first, after those that are not valued yet', async () => {
    const first = await open(service, path, admin);
    expect(listed(first)).toEqual(ids.slice(0, 25));
    expect(textOf(first)).toContain('$108.00');
    const second = await open(service, more(first), admin);
    expect(listed(second)).toEqual(ids.slice(25));
    expect(more(second)).toBe('');
  });

  test('can be filtered by value, reason and network', async () => {
    expect(listed(await open(service, `${path}?worth=12`, admin))).toEqual(ids.slice(-3));
    expect(listed(await open(service, `${path}?why=unknown&worth=$4.00`, admin))).toEqual(
      ids.slice(-1),
    );
    for (const query of ['why=late', 'network=btc']) {
      const none = await open(service, `${path}?${query}`, admin);
      expect(textOf(none)).toContain('No deposit matches. Clear filters');
    }
    const wrong = await open(service, `${path}?worth=little`, admin);
    expect(wrong.statusCode).toBe(422);
    expect(textOf(wrong)).toContain('Give an amount in dollars, as 10.00.');
    expect(textOf(await open(service, path, admin))).toContain('ETH on Ethereum Sepolia');
  });

  test('can be downloaded as it is filtered, by everybody who sees it', async () => {
    const member = await addMerchantUser(service, shop.merchant.id, 'member');
    const download = (query: string, site = 'same-origin') =>
      service.app.inject({
        url: `${path}.csv${query}`,
        headers: { host: HOST, cookie: member.cookie, 'sec-fetch-site': site },
      });
    const inFile = ({ body }: { body: string }) =>
      body
        .trimEnd()
        .split('\r\n')
        .slice(1)
        .map(row => row.slice(1, 37));
    const all = await download('');
    expect(all.headers['content-disposition']).toMatch(/filename="unmatched-[\d-]+\.csv"$/);
    expect(all.body).toContain('"id","arrivedAt","blockchainId","address",');
    expect(inFile(all)).toEqual(ids);
    const [, row = ''] = (await download('?worth=4&network=eth-test')).body.split('\r\n');
    expect(row).toContain(`"${ids.at(-1)}",`);
    expect(row).toContain(`"eth-test","${OWN}",`);
    expect(row).toContain('"0.001","ETH","4.00","unknown","final"');
    expect((await open(service, `${path}?worth=12`, member)).body).toContain(
      `<a href="${path}.csv?worth=12" download>`,
    );
    expect((await download('?worth=x')).headers.location).toBe(`${path}?worth=x`);
    expect((await download('', 'cross-site')).statusCode).toBe(403);
    const audited = await service.db
      .selectFrom('audit_log')
      .select(['detail', 'account_id'])
      .where('action', '=', 'deposit.export')
      .where('actor', '=', member.email)
      .orderBy('id')
      .execute();
    expect(audited).toMatchObject([
      { account_id: shop.merchant.id, detail: { rows: 28, filters: {} } },
      { detail: { rows: 1, filters: { worth: '4', network: 'eth-test' } } },
    ]);
  });

  test('is read on in a file where it was left, though a deposit is valued meanwhile', async () => {
    const { id: merchantId } = shop.merchant;
    const [first] = await listOwnUnmatched(
      service.db,
      merchantId,
      {},
      { after: undefined, limit: 1 },
    );
    expect(first?.id).toBe(ids[0]);
    const value = (cents: number | null) =>
      updateDeposit(service.db, ids[0] ?? '', { value_cents: cents });
    await value(1);
    const rest = await listOwnUnmatched(service.db, merchantId, {}, { after: first, limit: 100 });
    await value(null);
    expect(rest.map(({ id }) => id)).toEqual([...ids.slice(1), ids[0]]);
  });

  test('many are dismissed at once, all or none, by an admin', async () => {
    const dismiss = (deposits: readonly (string | undefined)[], fields = {}) => {
      const payload = new URLSearchParams({ ...KEPT, ...SURE, ...fields });
      for (const id of deposits) payload.append('deposit', id ?? '');
      return service.app.inject({
        method: 'POST',
        url: `${path}/dismiss?worth=12`,
        headers: {
          host: HOST,
          cookie: admin.cookie,
          'sec-fetch-site': 'same-origin',
          'content-type': 'application/x-www-form-urlencoded',
        },
        payload: payload.toString(),
      });
    };
    const member = await addMerchantUser(service, shop.merchant.id, 'member');
    expect((await open(service, path, member)).body).not.toContain('type="checkbox"');
    expect(textOf(await dismiss([]))).toContain('Tick the deposits first.');
    expect((await dismiss(ids)).statusCode).toBe(400);
    const unsaid = await dismiss(ids.slice(-2), { remedy: '' });
    expect(unsaid.statusCode).toBe(422);
    expect(unsaid.body.match(/ checked/g)).toHaveLength(2);
    const foreign = await arrive(OTHERS);
    expect(textOf(await dismiss([ids.at(-1), foreign.id]))).toContain('Nothing was changed.');
    expect(listed(await open(service, `${path}?worth=12`, admin))).toHaveLength(3);
    const asked = await dismiss([...ids.slice(-2), ids[0]], { 'confirmation-sure': '' });
    expect(textOf(asked)).toMatch(
      /Dismiss 3 deposits\? Amounts .*ETH Worth \$12\.00, and 1 deposit of unknown worth/,
    );
    expect(asked.body).toContain(`action="${path}/dismiss?worth=12"`);
    expect(listed(await open(service, `${path}?worth=12`, admin))).toHaveLength(3);
    const done = await dismiss(ids.slice(-2));
    expect(done.headers.location).toBe(`${path}?worth=12`);
    expect(noticeOf(done)).toEqual({ text: 'Dismissed: 2 deposits, worth $12.00.' });
    expect(listed(await open(service, `${path}?worth=12`, admin))).toEqual([ids.at(-3)]);
  });
});

test.each([
  ['too little', () => 1n, '0.000000000000000001', 'too little to settle the payment'],
  ['too much', (due: bigint) => due * 633n, /arrived ([\d.]+) ETH/, 'too much for the payment'],
] as const)(
  'a deposit of %s is confirmed by a second admin, who types both amounts',
  async (_, amountOf, typedAs, why) => {
    const checkout = await openCheckout(service, shop, { customerReferenceId: 'order 3' });
    await checkout.pick('eth-test');
    const asked = BigInt((await checkout.payment()).token_amount ?? 0);
    const deposit = await arrive(OWN, amountOf(asked));
    const at = `${path}/${deposit.id}`;
    const form = { payment: checkout.paymentId };
    // Somebody whom another admin has just invited, perhaps under a second e-mail of their own.
    const mallory = await addMerchantUser(service, shop.merchant.id, 'admin', { name: 'Mallory' });
    const early = await submit(service, `${at}/ask`, form, mallory);
    expect(early.statusCode).toBe(422);
    expect(textOf(early)).toContain('for long enough');
    const refused = await submit(service, `${at}/assign`, form, admin);
    expect(refused.statusCode).toBe(422);
    expect(textOf(refused)).toContain(why);
    expect(textOf(refused)).toContain('Ask a second admin');
    const requested = await submit(service, `${at}/ask`, form, admin);
    expect(requested.headers.location).toBe(at);
    expect(noticeOf(requested)?.text).toContain('Another admin has to confirm it');
    expect(textOf(await open(service, at, admin))).toContain('Another admin has to confirm that.');
    const shown = textOf(await open(service, at, admin));
    const [, due = ''] = /due ([\d.]+) ETH/.exec(shown) ?? [];
    const arrived = typeof typedAs === 'string' ? typedAs : (typedAs.exec(shown)?.[1] ?? '');
    const typed = { ...form, sure: '', arrived, due };
    expect((await submit(service, `${at}/assign`, typed, admin)).statusCode).toBe(422);
    const confirmed = await submit(service, `${at}/assign`, typed, mallory);
    expect(confirmed.statusCode).toBe(422);
    expect(textOf(confirmed)).toContain('for long enough');
    expect(textOf(await open(service, at, grace))).toContain('Ada asked to assign it to $50.00');
    const wrong = await settle(`${at}/assign`, { ...typed, due: '1' }, grace);
    expect(wrong.statusCode).toBe(422);
    expect(textOf(wrong)).toContain('The amounts that were typed are others.');
    const question = await submit(service, `${at}/assign`, typed, grace);
    expect(question.statusCode).toBe(200);
    expect(textOf(question)).toContain(`Due ${due} ETH Arrived ${arrived} ETH Difference`);
    expect((await checkout.payment()).status).toBe('pending');
    expect((await settle(`${at}/assign`, typed, grace)).statusCode).toBe(303);
    expect((await checkout.payment()).status).toBe('successful');
  },
);

test('a late deposit and its payment link to each other, and it is assigned elsewhere only on purpose', async () => {
  const checkout = await openCheckout(service, shop, { customerReferenceId: 'order 17' });
  await checkout.pick('eth-test');
  const { token_amount: amount } = await checkout.payment();
  await checkout.simulate('cancel');
  const deposit = await arrive(OWN, BigInt(amount ?? 0));
  const page = await open(service, `${path}/${deposit.id}`, admin);
  expect(textOf(page)).toContain(
    'The payment that it was meant for $50.00 , order 17: cancelled since',
  );
  expect(page.body).toContain(`/payments/${checkout.paymentId}"`);
  const ended = path.replace('unmatched', `payments/${checkout.paymentId}`);
  const before = await open(service, ended, admin);
  expect(textOf(before)).toContain('Arrived too late: not counted');
  expect(before.body).toContain(`${path}/${deposit.id}"`);
  expect((await checkout.get()).body).toContain('Arrived too late for this payment');

  const other = await openCheckout(service, shop, { amount: 4000 });
  await other.pick('eth-test');
  const form = { payment: other.paymentId };
  const at = `${path}/${deposit.id}/assign`;
  // $50.00 is far more than $40.00: two people of the merchant decide.
  await submit(service, `${path}/${deposit.id}/ask`, form, admin);
  const [arrived = '', due = ''] = [amount, (await other.payment()).token_amount].map(units =>
    formatBaseUnits(BigInt(units ?? 0), 18),
  );
  const typed = { ...form, sure: '', arrived, due };
  const asked = await submit(service, at, typed, grace);
  expect(asked.statusCode).toBe(200);
  expect(textOf(asked)).toContain('It was meant for $50.00 , order 17, which is cancelled');
  expect(asked.body).toContain('<input type="hidden" name="sure" value="yes">');
  // Without having read it.
  const unread = await settle(at, typed, grace);
  expect(unread.statusCode).toBe(422);
  expect(textOf(unread)).toContain(
    `It was meant for payment ${checkout.paymentId}, which is cancelled`,
  );
  expect((await settle(at, { ...typed, sure: 'yes' }, grace)).statusCode).toBe(303);
  expect((await other.payment()).status).toBe('successful');
  expect(textOf(await open(service, ended, admin))).toContain('Assigned to another payment');
});

test('a payer sees what became of a transfer that came too late', async () => {
  const checkout = await openCheckout(service, shop);
  await checkout.pick('eth-test');
  const { token_amount: amount } = await checkout.payment();
  await checkout.simulate('cancel');
  const { id, transaction_hash: hash } = await arrive(OWN, BigInt(amount ?? 0));
  const waiting = await checkout.get();
  expect(waiting.body).toContain(`data-copy="${hash}"`);
  expect(waiting.body).toContain('It did not count. Contact Shop');
  // Number first, then unit, as wallets show it, in right-to-left text as well.
  const arabic = await checkout.get(`${checkout.path}?lang=ar`);
  expect(arabic.body).toMatch(/<strong>\u20660[.,٫]\d+\u00a0ETH\u2069<\/strong>/);
  const returned = { remedy: 'returned', to: 'ada@example.com', hash: '0xback', note: 'secret' };
  await settle(`${path}/${id}/dismiss`, returned);
  const settled = await checkout.get();
  expect(settled.body).toContain('It has been returned by this transaction:');
  expect(settled.body).toContain('0xback');
  expect(settled.body).not.toMatch(/ada@example|secret/);
});

test('a deposit is assigned, once the question was answered, to a payment that waits there', async () => {
  const other = await openCheckout(service, shop);
  await other.pick('eth-test');
  const checkout = await openCheckout(service, shop, { customerReferenceId: 'order 18' });
  await checkout.pick('eth-test');
  const amount = BigInt((await checkout.payment()).token_amount ?? 0);
  const deposit = await arrive(OWN, amount + amount / 100n + 7n);
  const at = `${path}/${deposit.id}`;
  const page = await open(service, at, admin);
  expect(textOf(page)).toContain('$50.00 , order 18 best fit due');
  expect(textOf(page).match(/best fit/g)).toHaveLength(1);
  expect(page.body).toContain(
    `<code id="deposit-transaction">${deposit.transaction_hash}</code> <button type="button"`,
  );
  expect(page.body).toContain('ETH on Ethereum Sepolia <code>eth-test</code>');
  const member = await addMerchantUser(service, shop.merchant.id, 'member');
  expect((await open(service, at, member)).body).not.toContain('Assign<');
  const form = { payment: checkout.paymentId };
  const question = await submit(service, `${at}/assign`, form, admin);
  expect(question.statusCode).toBe(200);
  const [due, arrived, difference] = [amount, amount + amount / 100n + 7n, amount / 100n + 7n].map(
    units => `${formatBaseUnits(units, 18)} ETH`,
  );
  expect(textOf(question)).toContain('Assign this deposit to $50.00, order 18?');
  expect(textOf(question)).toContain(
    `Due ${due} Arrived ${arrived} Difference ${difference} more than is due`,
  );
  expect(textOf(question)).toContain('Price $50.00 Worth – Reference order 18');
  expect(textOf(question)).toContain('successful at once. That is final');
  expect((await checkout.payment()).status).toBe('pending');
  const done = await settle(`${at}/assign`, form);
  expect(done.headers.location).toBe(path);
  const payments = path.replace('unmatched', 'payments');
  expect(noticeOf(done)).toEqual({
    text: 'Assigned to $50.00, order 18.',
    link: { path: `${payments}/${checkout.paymentId}`, text: 'Look at the payment' },
  });
  expect((await checkout.payment()).status).toBe('successful');
  // Somebody else has the question open, or opens the deposit.
  const again = await settle(`${at}/assign`, { payment: other.paymentId }, grace);
  expect(again.statusCode).toBe(422);
  expect(textOf(again)).toContain(`The deposit belongs to payment ${checkout.paymentId} already.`);
  expect((await settle(`${at}/dismiss`, { ...KEPT }, grace)).statusCode).toBe(422);
  const settled = await open(service, at, grace);
  expect(textOf(settled)).toContain('It waits no more. What became of it It belongs to $50.00');
  expect(settled.body).toContain(`href="${payments}/${checkout.paymentId}"`);
  expect(settled.body).not.toMatch(/\/(assign|ask|dismiss)"/);
  expect((await other.payment()).status).toBe('pending');
});

test('an admin whose second factor is old is asked for it with the question, and assigns nothing without it', async () => {
  const checkout = await openCheckout(service, shop);
  await checkout.pick('eth-test');
  // Nobody else asked for this amount.
  const { id } = await arrive(OWN, BigInt((await checkout.payment()).token_amount ?? 0) + 11n);
  const url = `${path}/${id}/assign`;
  const form = { payment: checkout.paymentId };
  const stale = { ...admin, cookie: await addSession(service, admin, 11) };
  const asked = await submit(service, url, form, stale);
  expect(asked.statusCode).toBe(200);
  expect(textOf(asked)).toContain('Assign this deposit to $50.00?');
  expect(asked.body).toContain('name="confirmation-code"');
  expect(asked.body).toContain(`name="payment" value="${checkout.paymentId}"`);
  for (const code of [{}, { 'confirmation-code': wrongCodeAt(admin.secret, service.clock.now) }]) {
    const sent = await settle(url, { ...form, ...code }, stale);
    expect(textOf(sent)).toContain('Assign this deposit to $50.00?');
  }
  expect((await checkout.payment()).status).toBe('pending');
  const code = codeAt(admin.secret, service.clock.now);
  const done = await settle(url, { ...form, 'confirmation-code': code }, stale);
  expect(noticeOf(done)?.text).toBe('Assigned to $50.00.');
  expect((await checkout.payment()).status).toBe('successful');
});

test('a deposit is assigned to no payment of another merchant', async () => {
  const other = await addMerchant(service, { addresses: { 'eth-test': OTHERS } });
  const checkout = await openCheckout(service, other);
  const { id } = await arrive(OWN);
  const form = { payment: checkout.paymentId };
  for (const fields of [form, { ...form, ...SURE }]) {
    const sent = await submit(service, `${path}/${id}/assign`, fields, admin);
    expect(sent.statusCode).toBe(404);
  }
});
