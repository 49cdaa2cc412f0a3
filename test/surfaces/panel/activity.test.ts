import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createBranch, setMainBranch } from '#accounts/branches.ts';
import { createKey, revokeKey } from '#accounts/keys/manage-keys.ts';
import { setMerchant } from '#accounts/merchants.ts';
import { setPartner, setPartnerMember } from '#accounts/partners.ts';
import { addDomain } from '#accounts/redirect-domains.ts';
import { setUser } from '#accounts/users.ts';
import { setEndpoint } from '#payments/webhooks/change-endpoint.ts';
import { rotateEndpointSecret } from '#payments/webhooks/manage-endpoints.ts';
import { insertAuditEntry } from '#storage/repositories/accounts/audit-log.ts';
import { addPartner, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { addEndpoint } from '../../helpers/deliveries.ts';
import {
  addMerchantUser,
  addPartnerUser,
  addShop,
  open,
  submit,
  textOf,
} from '../../helpers/panel.ts';
import { addPayment } from '../../helpers/payments.ts';

let service: TestApp;
beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

const openShop = (name = 'Blue Coffee') => addShop(service, '/settings/activity', { name });

/** Writes an entry about an object, as `mp` does. */
function note(objectType: string, objectId: string, detail: Record<string, unknown> = {}) {
  const id = uuidv7();
  const now = new Date(service.clock());
  const entry = {
    id,
    actor: 'operator',
    action: `${objectType}.note`,
    objectType,
    objectId,
    detail,
  };
  return insertAuditEntry(service.db, { ...entry, now }).then(() => id);
}

const accountOf = async (id: string) => {
  const query = service.db.selectFrom('audit_log').select('account_id').where('id', '=', id);
  return (await query.executeTakeFirstOrThrow()).account_id;
};

test('actions of operators and admins are described in words, with who, what and from where', async () => {
  const { merchant, ada, path, keyId } = await openShop();
  const operator = { ...operatorOf(service), actor: 'root@shell' };
  await setMerchant(operator, merchant.id, { commissionBps: 125 });
  const bob = await addMerchantUser(service, merchant.id, 'member', { name: 'Bob' });
  await setUser(operator, bob.userId, { role: 'admin' });
  await addDomain(operator, merchant.id, 'shop.example.com');
  const settings = path.replace('/activity', '');
  await submit(service, `${settings}/branches`, { name: 'Kiosk' }, ada);
  const owner = { merchantId: merchant.id };
  await createKey(operator, service.keyring, { owner, name: 'shop server' });
  await revokeKey(operator, keyId);
  await insertAuditEntry(service.db, {
    id: uuidv7(),
    actor: 'operator',
    action: 'webhook.test',
    objectType: 'merchant',
    objectId: merchant.id,
    detail: { statusCode: null, problem: 'closed-port' },
    now: new Date(service.clock.now),
  });
  const page = await open(service, path, ada);
  const text = textOf(page);
  expect(text).toMatch(/Changed the account commission: 1\.25 % root@shell, [^,]+, [^,]+, by mp/);
  expect(text).toMatch(/Changed somebody of the team : Bob role: admin/);
  expect(text).toMatch(/Added a domain domain: shop\.example\.com/);
  expect(text).toMatch(
    /Added a branch : Kiosk .*Ada \([\w-]+@example\.com\), .* in the panel from 10\.\d/,
  );
  expect(text).toMatch(/Revoked an API key : \w/);
  expect(text).toContain('may: create payments, read payments, list networks');
  expect(text).toContain('what was wrong: The server refused the connection. Check that');
  expect(page.body).toMatch(/<time datetime="[^"]+" data-exact>[^<]+:\d\d:\d\d UTC</);
  expect(page.body).not.toMatch(/<strong><code>/);
  expect(page.body).not.toMatch(/<code>\w+<\/code>:/);
  expect(text.indexOf('Revoked an API key')).toBeLessThan(text.indexOf('Changed the account'));
});

test('branches and endpoints are named, and no path of an endpoint is shown', async () => {
  const { merchant, ada, path } = await openShop();
  const operator = operatorOf(service);
  const branch = { merchantId: merchant.id, name: 'Kiosk', main: false };
  const kiosk = await createBranch(operator, branch);
  await setMainBranch(operator, kiosk.id);
  const url = 'https://user.example.com:8443/hooks/secret-path?token=unseen';
  const { endpoint } = await addEndpoint(service, merchant.id, url);
  await rotateEndpointSecret(operator, service.keyring, endpoint.id);
  await setEndpoint(operator, endpoint.id, {
    url: 'https://new.example.com?token=unseen',
    allowPrivateAddresses: true,
  });
  const page = await open(service, path, ada);
  const text = textOf(page);
  expect(text).toContain('Made a branch the main one : Kiosk instead of: Main');
  expect(text).toContain('Rotated the secret of a webhook endpoint : https://new.example.com');
  expect(text).toMatch(
    /Created a webhook endpoint : \S+ .*?at: https:\/\/user\.example\.com:8443 /,
  );
  expect(page.body).not.toMatch(/secret-path|unseen/);
  for (const { id } of [kiosk, endpoint]) expect(page.body).not.toContain(id);
});

describe('an entry of the audit log names its account', () => {
  test('of a merchant by the object', async () => {
    const { merchant, keyId, ada } = await openShop();
    const { id: branchId } = await createBranch(operatorOf(service), {
      merchantId: merchant.id,
      name: 'Kiosk',
      main: false,
    });
    const payment = await addPayment(service.db, merchant, {
      created_at: new Date(service.clock.now),
    });
    for (const [type, id] of [
      ...[['merchant', merchant.id] as const, ['domain', merchant.id] as const],
      ...[['branch', branchId] as const, ['branch', merchant.id] as const],
      ...[['address', branchId] as const, ['user', ada.userId] as const],
      ...[['key', keyId] as const, ['payment', payment.id] as const],
    ]) {
      expect(await accountOf(await note(type, id)), type).toBe(merchant.id);
    }
    const assigned = await note('deposit', uuidv7(), { paymentId: payment.id });
    expect(await accountOf(assigned)).toBe(merchant.id);
    const dismissed = await note('deposit', uuidv7(), { merchantIds: [merchant.id] });
    expect(await accountOf(dismissed)).toBe(merchant.id);
    const joined = await note('person', ada.personId, { accountId: merchant.id });
    expect(await accountOf(joined)).toBe(merchant.id);
  });

  test('of a partner by the object', async () => {
    const { partner, member, keyId } = await addPartner(service);
    for (const [type, id] of [
      ['partner', partner.id] as const,
      ['member', member.id] as const,
      ['key', keyId] as const,
    ]) {
      expect(await accountOf(await note(type, id)), type).toBe(partner.id);
    }
  });

  test('and none for entries about several accounts, no account, or a missing object', async () => {
    const several = { merchantIds: [uuidv7(), uuidv7()] };
    for (const [type, id, detail] of [
      ...[['deposit', uuidv7(), several] as const, ['person', uuidv7(), {}] as const],
      ...[['node', uuidv7(), {}] as const, ['network', 'eth', {}] as const],
      ...[['user', uuidv7(), {}] as const, ['user', 'x', {}] as const],
      ...[['payment', "'; --", {}] as const, ['deposit', 'x', { paymentId: 'x' }] as const],
      ...[['person', 'x', { accountId: 7 }] as const],
    ]) {
      expect(await accountOf(await note(type, id, detail)), type).toBeNull();
    }
  });
});

test('another account sees none of it, by no cursor either', async () => {
  const own = await openShop();
  const others = await openShop('Others');
  await addDomain(operatorOf(service), others.merchant.id, 'others.example.com');
  const foreign = await note('merchant', others.merchant.id);
  for (const query of ['', `?after=${foreign}`, `?before=${foreign}`, `?after=${uuidv7()}`]) {
    const page = await open(service, own.path + query, own.ada);
    expect(page.statusCode).toBe(200);
    expect(page.body).not.toContain('others.example.com');
  }
  const foreignPage = await open(service, `${own.path}?after=${foreign}`, own.ada);
  expect(textOf(foreignPage)).toContain('There are none further. To the first page');
});

test('pages of 25 can be read in both directions, with each entry once', async () => {
  const { merchant, ada, path } = await openShop();
  for (let n = 0; n < 60; n++) {
    // Several have the same time, and are ordered by their IDs.
    if (n % 7 === 0) service.clock.now += 1_000;
    await note('merchant', merchant.id, { number: `n${n}` });
  }
  const numbersOf = (body: string) =>
    [...body.matchAll(/<\/code>:<\/span> (n\d+)<br/g)].map(([, n]) => n);
  const linkOf = (body: string, rel: string) =>
    new RegExp(`href="([^"]+)" rel="${rel}"`).exec(body)?.[1] ?? '';
  const first = (await open(service, path, ada)).body;
  expect(numbersOf(first)).toHaveLength(25);
  const second = (await open(service, linkOf(first, 'next'), ada)).body;
  const third = (await open(service, linkOf(second, 'next'), ada)).body;
  const all = [first, second, third].flatMap(numbersOf);
  expect(all).toEqual(Array.from({ length: 60 }, (_, n) => `n${59 - n}`));
  expect(linkOf(first, 'prev')).toBe('');
  const back = (await open(service, linkOf(third, 'prev'), ada)).body;
  expect(numbersOf(back)).toEqual(numbersOf(second));
  const start = (await open(service, linkOf(back, 'prev'), ada)).body;
  expect(numbersOf(start)).toEqual(numbersOf(first));
});

test('an entry with many details, and markup, is shown shortened and as text', async () => {
  const { merchant, ada, path } = await openShop();
  const many = Object.fromEntries(
    Array.from({ length: 40 }, (_, n) => [`field-${n}`, 'x'.repeat(500)]),
  );
  await note('merchant', merchant.id, { t: '<script>alert(1)</script>', ...many });
  await note('merchant', merchant.id, { at: '2026-03-01T12:30:00.000Z', on: true, off: null });
  await note('merchant', merchant.id, { list: ['a', 'b'], nested: { a: 1 } });
  const page = await open(service, path, ada);
  expect(page.body).toContain('&lt;script&gt;');
  expect(page.body).not.toContain('x'.repeat(121));
  expect(page.body).not.toContain('field-20');
  const text = textOf(page);
  expect(text).toContain('at : 1 Mar 2026, 12:30 UTC');
  expect(text).toContain('on : yes');
  expect(text).toContain('off : none');
  expect(text).toContain('list : a, b');
  expect(text).toContain('nested : {&quot;a&quot;:1}');
});

test('owners of a partner see what was changed in it', async () => {
  const { partner } = await addPartner(service);
  const owner = await addPartnerUser(service, partner.id, 'owner', { name: 'Olga' });
  const developer = await addPartnerUser(service, partner.id, 'developer');
  await setPartner(operatorOf(service), partner.id, { selfService: false });
  await setPartnerMember(operatorOf(service), developer.memberId, { role: 'owner' });
  const path = `/panel/partners/${partner.id}/activity`;
  const text = textOf(await open(service, path, owner));
  expect(text).toContain('Changed the account self-service: no');
  expect(text).toContain('Changed somebody of the team : Ada role: owner');
});
