import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createKey, revokeKey } from '#accounts/keys/manage-keys.ts';
import { setMerchant } from '#accounts/merchants.ts';
import { setPartnerMember } from '#accounts/partners.ts';
import { auditPerson } from '#accounts/people/sign-in.ts';
import {
  ADDRESSES,
  addMerchant,
  addPartner,
  type MerchantWithKey,
  operatorOf,
  type PartnerWithKey,
} from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import {
  addPartnerUser,
  follow,
  HOST,
  open,
  submit,
  textOf,
  type Visitor,
} from '../../helpers/panel.ts';
import { addPayment } from '../../helpers/payments.ts';
import { send } from '../../helpers/signed-request.ts';

const MAXIMUM_ID = 'ffffffff-ffff-4fff-bfff-ffffffffffff';

let service: TestApp;
let partner: PartnerWithKey;
let shop: MerchantWithKey;
let owner: Visitor;
let path: string;

beforeAll(async () => {
  service = await startTestApp();
  partner = await addPartner(service);
  shop = await addMerchant(service, { name: 'Linked', partnerId: partner.partner.id });
  owner = await addPartnerUser(service, partner.partner.id, 'owner');
  path = `/panel/partners/${partner.partner.id}`;
  for (let index = 0; index < 30; index++) {
    // Several have the same time; the pages that a file is read by must not lose any.
    const at = new Date(service.clock.now - Math.floor(index / 4) * 60_000);
    await addPayment(service.db, shop.merchant, { created_at: at, amount: 1000 + index });
  }
});
afterAll(() => service.close());

test('the overview shows the figures of the report', async () => {
  const page = await open(service, path, owner);
  expect(page.statusCode).toBe(200);
  expect(textOf(page)).toMatch(/Payments\s+30/);
  const { metrics } = (await send(service, partner, { path: '/external/partner/overview' })).json();
  expect(metrics.totalPayments).toBe(30);
});

test('the overview shows what needs attention: keys, a sign-in with a new device, the team', async () => {
  const { partner: account } = await addPartner(service);
  const own = await addPartnerUser(service, account.id, 'owner');
  const developer = await addPartnerUser(service, account.id, 'developer');
  const other = await addPartnerUser(service, account.id, 'developer');
  const day = (days: number) => new Date(service.clock.now + days * 24 * 60 * 60_000);
  const { keyId } = await createKey(operatorOf(service), service.keyring, {
    owner: { memberId: developer.memberId },
    name: 'reports',
    expiresAt: day(13),
  });
  const said = `The API key reports was made on ${day(0).toISOString().slice(0, 10)}`;
  const url = `/panel/partners/${account.id}`;
  for (const visitor of [own, developer]) {
    const page = await open(service, url, visitor);
    expect(textOf(page)).toContain(said);
    expect(textOf(page)).toContain(day(13).toISOString().slice(0, 10));
    expect(page.body).toContain(`href="${url}/developer/keys/${keyId}"`);
    expect(textOf(page)).not.toContain('Somebody signed in as you');
  }
  expect(textOf(await open(service, url, other))).not.toContain(said);
  await auditPerson(
    service.db,
    { id: own.personId, email: own.email, email_confirmed_at: day(0), is_demo: false },
    'person.sign-in',
    { address: '192.0.2.7', now: day(0), detail: { device: 'new' } },
  );
  expect(textOf(await open(service, url, own))).toContain('with a new device on 2026-05-17');
  // Developers do not see the team.
  const gone = await addPartnerUser(service, account.id, 'owner', { name: 'Bob' });
  await setPartnerMember(operatorOf(service), gone.memberId, { role: 'developer' });
  const removed = 'Bob is no owner any more: changed on 2026-05-17 by your operator';
  const seen = await open(service, url, own);
  expect(textOf(seen)).toContain(removed);
  expect(seen.body).toContain(`href="${url}/team"`);
  expect(textOf(await open(service, url, developer))).not.toContain('no owner any more');
});

test('merchants and payments can be found by the reports’ filters', async () => {
  expect((await open(service, `${path}/merchants?search=Link`, owner)).body).toContain('>Linked<');
  expect(textOf(await open(service, `${path}/merchants?search=zzz`, owner))).toContain(
    'No merchant',
  );
  const merchant = await open(service, `${path}/merchants/${shop.merchant.id}`, owner);
  expect(textOf(merchant)).toContain('shop@example.com');
  const first = await open(service, `${path}/payments`, owner);
  expect(textOf(first)).toContain('30 in all');
  expect(first.body).toContain('page=2');
  expect(first.body).toContain('Reference</th>');
  const none = await open(service, `${path}/payments?status=cancelled`, owner);
  expect(textOf(none)).toContain('No payment matches.');
});

test('a page beyond the last says so, and links to the first', async () => {
  for (const list of [
    'payments?status=pending',
    'merchants?search=Link',
    'commission?month=2026-05',
  ]) {
    const beyond = list.startsWith('commission') ? `after=${MAXIMUM_ID}` : 'page=99';
    const page = await open(service, `${path}/${list}&${beyond}`, owner);
    expect(textOf(page), list).toContain('There are none further. To the first page');
    expect(page.body, list).toContain(`<a href="${path}/${list}">To the first page</a>`);
    expect(page.body, list).not.toContain('rel="prev"');
  }
});

test('days in the wrong order are refused with a message, by the list and by the file', async () => {
  const days = 'from=2026-03-02&to=2026-03-01';
  const page = await open(service, `${path}/payments?${days}`, owner);
  expect(page.statusCode).toBe(422);
  expect(textOf(page)).toContain('From, 2026-03-02, is after To, 2026-03-01.');
  const file = await open(service, `${path}/payments.csv?${days}`, owner);
  expect(file.headers.location).toBe(`${path}/payments?${days}`);
});

test('objects of others are not found', async () => {
  const other = await addMerchant(service);
  const foreign = await addPayment(service.db, other.merchant, { created_at: new Date() });
  for (const part of [`merchants/${other.merchant.id}`, `payments/${foreign.id}`, 'payments/x']) {
    expect((await open(service, `${path}/${part}`, owner)).statusCode, part).toBe(404);
  }
});

test('the file has every payment once, in the order of the list', async () => {
  const { body } = await service.app.inject({
    url: `${path}/payments.csv`,
    headers: { host: HOST, cookie: owner.cookie, 'sec-fetch-site': 'same-origin' },
  });
  const lines = body.trimEnd().split('\r\n').slice(1);
  expect(new Set(lines.map(line => line.split(',')[0])).size).toBe(30);
  const { data } = (
    await send(service, partner, { path: '/external/partner/payments?limit=100' })
  ).json();
  expect(lines.map(line => line.split(',')[0])).toEqual(
    data.map(({ id }: { id: string }) => `"${id}"`),
  );
});

test('the owner switches the merchants’ own keys off and on, and it takes effect at once', async () => {
  const status = async () =>
    (await send(service, shop, { path: '/external/v1/payments' })).statusCode;
  const set = (value: string, sure: Record<string, string> = {}) =>
    submit(service, `${path}/settings/self-service`, { 'self-service': value, ...sure }, owner);
  expect(await status()).toBe(200);
  // Neither a merchant without keys, nor one whose key has expired, nor an inactive one counts.
  const { id: partnerId } = partner.partner;
  const idle = await addMerchant(service, { partnerId });
  await setMerchant(operatorOf(service), idle.merchant.id, { status: 'inactive' });
  const keyless = await addMerchant(service, { partnerId });
  await revokeKey(operatorOf(service), keyless.keyId);
  const asked = await set('off');
  expect(asked.statusCode).toBe(200);
  expect(textOf(asked)).toContain('the API keys of 1 merchant are refused with E2103');
  expect(await status()).toBe(200);
  const off = await set('off', { 'confirmation-sure': 'yes' });
  expect(off.statusCode).toBe(303);
  expect(await status()).toBe(403);
  const page = await follow(service, off, owner);
  expect(textOf(page)).toMatch(/Switched off: .* Undo .*Off: API keys/);
  expect(page.body).toContain('<input type="hidden" name="self-service" value="on">');
  expect((await set('maybe')).statusCode).toBe(400);
  // What takes it back asks nothing.
  expect(textOf(await follow(service, await set('on'), owner))).toContain('Switched on');
  expect(await status()).toBe(200);
});

test('the team is listed', async () => {
  expect(textOf(await open(service, `${path}/team`, owner))).toContain('member@example.com');
});

test('merchants can be found by what they need', async () => {
  const address = `${path}/merchants?action=required`;
  expect(textOf(await open(service, address, owner))).toContain('No merchant matches.');
  const us = await addMerchant(service, {
    name: 'New in the US',
    kind: 'us',
    approved: false,
    partnerId: partner.partner.id,
  });
  const page = await open(service, address, owner);
  expect(page.body).toContain(`/merchants/${us.merchant.id}"`);
  expect(page.body).not.toContain(`/merchants/${shop.merchant.id}"`);
});

test('payments can be found by a part of one text, which stays in the form and in the file', async () => {
  const at = new Date(service.clock.now - 60 * 60_000);
  const { id } = await addPayment(service.db, shop.merchant, {
    created_at: at,
    blockchain_id: 'eth',
    transaction_hash: '0xC0FFEE11',
    address: ADDRESSES.eth,
  });
  for (const part of ['hash=c0ffee', `address=${ADDRESSES.eth.slice(4, 20)}`, `payment=${id}`]) {
    const page = await open(service, `${path}/payments?${part}&name=link`, owner);
    expect(textOf(page), part).toContain('1 in all');
    expect(page.body).toContain('<details open>');
    expect(page.body).toMatch(new RegExp(`/payments\\.csv\\?[^"]*${part}`));
    const none = await open(service, `${path}/payments?${part}&name=nobody`, owner);
    expect(textOf(none), part).toContain('No payment matches.');
  }
  const closed = await open(service, `${path}/payments`, owner);
  expect(closed.body).not.toContain('<details open>');
});

test('a partner with many merchants has a small page, which keeps the chosen one', async () => {
  const many = await addPartner(service);
  const visitor = await addPartnerUser(service, many.partner.id, 'owner');
  const { rows } = await sql<{ id: string }>`
    insert into merchants
    select (jsonb_populate_record(merchants, jsonb_build_object(
             'id', gen_random_uuid(), 'name', 'Shop ' || lpad(n::text, 4, '0'),
             'partner_id', ${many.partner.id}::text))).*
    from merchants, generate_series(1, 1500) as n where id = ${shop.merchant.id}
    returning id`.execute(service.db);
  const last = rows.at(-1)?.id ?? '';
  const address = `/panel/partners/${many.partner.id}/payments?merchant=${last}`;
  const page = await open(service, address, visitor);
  expect(Buffer.byteLength(page.body)).toBeLessThan(60_000);
  expect(page.body).toContain(`<option value="${last}" selected>`);
});
