import { randomUUID } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Credentials } from '#client/index.ts';
import { writeKeyUses } from '#storage/repositories/keys/usage.ts';
import { addKey, addMerchant, addPartner, type MerchantWithKey } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { addRequest } from '../../helpers/logged-requests.ts';
import {
  addMerchantUser,
  addPartnerUser,
  noticeOf,
  open,
  SURE,
  submit,
  textOf,
  type Visitor,
} from '../../helpers/panel.ts';
import { send } from '../../helpers/signed-request.ts';
import { SOON } from '../../helpers/soon.ts';

const SCOPES = {
  'payment_prompts:write': 'on',
  'payment_prompts:read': 'on',
  'blockchains:read': 'on',
};

let service: TestApp;
let shop: MerchantWithKey;
let admin: Visitor;
let path: string;

beforeAll(async () => {
  service = await startTestApp();
  shop = await addMerchant(service);
  admin = await addMerchantUser(service, shop.merchant.id, 'admin');
  path = `/panel/merchants/${shop.merchant.id}/settings/developer/keys`;
});
afterAll(() => service.close());

const newForm = (fields: Record<string, string> = {}) => ({
  intent: randomUUID(),
  name: 'shop server',
  expiry: 'never',
  date: '',
  ...SCOPES,
  ...fields,
});

/** The credentials that a page shows once. */
function credentialsOf({ body }: { body: string }): Credentials {
  const read = (id: string) => new RegExp(`id="${id}">([^<]+)<`).exec(body)?.[1] ?? '';
  return { keyId: read('key-id'), secret: read('key-secret'), passphrase: read('key-passphrase') };
}

const rotation = (grace: string, answer: Record<string, string> = {}) => ({
  intent: randomUUID(),
  grace,
  ...answer,
});

const statusWith = async (key: Credentials) =>
  (await send(service, key, { path: '/external/v1/payments' })).statusCode;

test('the form of a new key has all scopes ticked', async () => {
  const { body } = await open(service, `${path}/new`, admin);
  const ticked = [...body.matchAll(/name="([^"]+)" value="on" checked/g)].map(([, name]) => name);
  expect(ticked).toEqual(Object.keys(SCOPES));
});

test('a new key works, is shown once, and is audited with who made it', async () => {
  const created = await submit(service, `${path}/new`, newForm(), admin);
  expect(created.statusCode).toBe(200);
  const key = credentialsOf(created);
  expect(await statusWith(key)).toBe(200);
  expect(textOf(created)).toContain(
    `MP_URL=https://pay.example.test MP_KEY_ID=${key.keyId} MP_SECRET=${key.secret} MP_PASSPHRASE=`,
  );
  const page = await open(service, `${path}/${key.keyId}`, admin);
  expect(page.body).not.toContain(key.secret);
  expect(page.body).not.toContain(key.passphrase);
  const entry = await service.db
    .selectFrom('audit_log')
    .selectAll()
    .where('object_id', '=', key.keyId)
    .executeTakeFirstOrThrow();
  expect(entry).toMatchObject({
    action: 'key.create',
    actor: admin.email,
    origin: 'panel',
    person_id: admin.personId,
    account_id: shop.merchant.id,
    address: expect.stringMatching(/^10\./),
  });
  expect(JSON.stringify(entry)).not.toContain(key.secret);
});

test('a form that is sent twice creates one key', async () => {
  const form = newForm({ name: 'once' });
  const answers = await Promise.all([
    submit(service, `${path}/new`, form, admin),
    submit(service, `${path}/new`, form, admin),
  ]);
  expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 409]);
  const list = await open(service, path, admin);
  expect(list.body.match(/>once</g)).toHaveLength(1);
});

test.each([
  ['no name', { name: ' ' }, 'Give it a name'],
  ['an expiry that is none', { expiry: 'soon' }, 'Choose when it expires'],
  ['no date', { expiry: 'date' }, 'Choose the date'],
  ['a date that has passed', { expiry: 'date', date: '2020-01-01' }, 'still to come'],
  ['a day that is none', { expiry: 'date', date: '2030-02-30' }, 'still to come'],
])('%s creates none, and the form shows why', async (_, wrong, reason) => {
  // The last use of a key is written a moment later.
  const readIds = async () => (await open(service, path, admin)).body.match(/mpk_[0-9a-f]{24}/g);
  const before = await readIds();
  const refused = await submit(service, `${path}/new`, newForm({ name: 'kept', ...wrong }), admin);
  expect(refused.statusCode).toBe(422);
  expect(textOf(refused)).toContain(reason);
  expect(before).not.toBeNull();
  expect(await readIds()).toEqual(before);
});

test('a key has the scopes and the expiry that were chosen', async () => {
  const { 'payment_prompts:write': _, ...form } = newForm({ expiry: '90' });
  const created = await submit(service, `${path}/new`, form, admin);
  const { keyId } = credentialsOf(created);
  const row = await service.db
    .selectFrom('api_keys')
    .selectAll()
    .where('id', '=', keyId)
    .executeTakeFirstOrThrow();
  expect(row.scopes).toEqual(['payment_prompts:read', 'blockchains:read']);
  expect(row.expires_at?.getTime()).toBe(service.clock.now + 90 * 24 * 60 * 60_000);
});

test('a key without any ticked scope may do everything, as the form says', async () => {
  const { body } = await open(service, `${path}/new`, admin);
  expect(body).toContain('A key for which nothing is ticked may do all of it.');
  const names = Object.keys(SCOPES);
  const boxes = Object.fromEntries(names.map(scope => [scope, '']));
  const { keyId } = credentialsOf(await submit(service, `${path}/new`, newForm(boxes), admin));
  const { scopes } = await service.db
    .selectFrom('api_keys')
    .select('scopes')
    .where('id', '=', keyId)
    .executeTakeFirstOrThrow();
  expect(scopes).toEqual(names);
});

test('rotating with grace keeps both pairs valid, without grace only the new one', async () => {
  const former = await addKey(service, { merchantId: shop.merchant.id }, { name: 'rotated' });
  const rotate = (grace: string) =>
    submit(service, `${path}/${former.keyId}/rotate`, rotation(grace, SURE), admin);
  const next = credentialsOf(await rotate('yes'));
  expect([await statusWith(former), await statusWith(next)]).toEqual([200, 200]);
  const last = credentialsOf(await rotate('no'));
  expect([await statusWith(next), await statusWith(last)]).toEqual([401, 200]);
});

test('rotating says first what ends when, and changes nothing until that is answered', async () => {
  const { merchant } = shop;
  const key = await addKey(service, { merchantId: merchant.id }, { name: 'asked' });
  const url = `${path}/${key.keyId}/rotate`;
  const used = { at: new Date(service.clock.now - 120_000), address: '192.0.2.1', errorCode: null };
  await writeKeyUses(service.db, [{ keyId: key.keyId, ...used }]);
  for (const minutes of [1, 59, 61]) {
    const msecs = service.clock.now - minutes * 60_000;
    await addRequest(service, { keyId: key.keyId, id: uuidv7({ msecs }), at: new Date(msecs) });
  }
  const [withGrace, atOnce] = [
    await submit(service, url, rotation('yes'), admin),
    await submit(service, url, rotation('no'), admin),
  ];
  const use =
    'It was last used on 17 May 2026, 11:58 UTC . The request log has 2 requests with it from the last hour.';
  expect(textOf(withGrace)).toMatch(/Rotate asked\? .* work until 18 May 2026, 12:00 UTC/);
  expect(textOf(atOnce)).toContain('are refused at once');
  for (const question of [withGrace, atOnce]) expect(textOf(question)).toContain(use);
  expect(textOf(await open(service, `${path}/${key.keyId}`, admin))).toContain(`undone. ${use}`);
  expect(await statusWith(key)).toBe(200);
  const others = await submit(
    service,
    `${path}/mpk_${'0'.repeat(24)}/rotate`,
    rotation('no'),
    admin,
  );
  expect(others.statusCode).toBe(404);
});

test('a key is revoked by typing its name, and by no other', async () => {
  const key = await addKey(service, { merchantId: shop.merchant.id }, { name: 'to go' });
  const revoke = (name: string) => submit(service, `${path}/${key.keyId}/revoke`, { name }, admin);
  const wrong = await revoke('to stay');
  expect(wrong.statusCode).toBe(422);
  expect(await statusWith(key)).toBe(200);
  const revoked = await revoke('to go');
  expect(revoked.statusCode).toBe(303);
  expect(noticeOf(revoked)?.text).toBe('Revoked: requests with to go are refused from now on.');
  expect(await statusWith(key)).toBe(401);
  const again = await revoke('to go');
  expect(textOf(again)).toContain('already revoked');
});

test('at most ten keys are active, and the page says what to do first', async () => {
  const { merchant } = await addMerchant(service);
  const other = await addMerchantUser(service, merchant.id, 'admin');
  const keys = `/panel/merchants/${merchant.id}/settings/developer/keys`;
  for (let made = 1; made < 10; made++) await addKey(service, { merchantId: merchant.id });
  const refused = await submit(service, `${keys}/new`, newForm(), other);
  expect(refused.statusCode).toBe(422);
  expect(textOf(refused)).toContain('10 active keys');
});

test('a key of others looks like a missing one', async () => {
  const { keyId } = await addMerchant(service);
  const plain = ({ body }: { body: string }) => body.replaceAll(/[0-9a-f-]{36}/g, 'ID');
  const [foreign, missing] = await Promise.all([
    open(service, `${path}/${keyId}`, admin),
    open(service, `${path}/mpk_${'0'.repeat(24)}`, admin),
  ]);
  expect(plain(foreign)).toBe(plain(missing));
  const revoked = await submit(service, `${path}/${keyId}/revoke`, { name: 'Test key' }, admin);
  expect(revoked.statusCode).toBe(404);
});

test('the last use is shown, and the last error', async () => {
  const key = await addKey(service, { merchantId: shop.merchant.id }, { name: 'used' });
  const url = `${path}/${key.keyId}`;
  expect(textOf(await open(service, url, admin))).toContain('Last used never');
  await send(service, key, { path: '/external/v1/payments' });
  await send(service, key, { path: `/external/v1/payments/${randomUUID()}` });
  await vi.waitFor(async () => {
    const text = textOf(await open(service, url, admin));
    expect(text).toContain('from 127.0.0.1');
    expect(text).toContain('Last error E3001');
  }, SOON);
});

test('a partner’s developer has only own keys, its owner can revoke everybody’s', async () => {
  const { partner, member, keyId } = await addPartner(service);
  const own = `/panel/partners/${partner.id}/developer/keys`;
  const developer = await addPartnerUser(service, partner.id, 'developer');
  const owner = await addPartnerUser(service, partner.id, 'owner');
  const { intent, name, expiry, date } = newForm({ name: 'mine' });
  const created = await submit(service, `${own}/new`, { intent, name, expiry, date }, developer);
  const key = credentialsOf(created);
  expect((await open(service, `${own}/${keyId}`, developer)).statusCode).toBe(404);
  expect((await open(service, `${own}/${keyId}`, owner)).statusCode).toBe(200);
  const rotated = await submit(service, `${own}/${key.keyId}/rotate`, rotation('no', SURE), owner);
  expect(rotated.statusCode).toBe(404);
  const revoked = await submit(service, `${own}/${key.keyId}/revoke`, { name: 'mine' }, owner);
  expect(revoked.statusCode).toBe(303);
  expect(member.partner_id).toBe(partner.id);
});
