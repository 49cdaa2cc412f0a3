import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setMerchant } from '#accounts/merchants.ts';
import { makeTestTwin } from '#accounts/test-twins.ts';
import { createUser, setUser } from '#accounts/users.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import { findUserOfPerson } from '#storage/repositories/accounts/merchant-users.ts';
import {
  findMerchant,
  findTestTwin,
  updateMerchant,
} from '#storage/repositories/accounts/merchants.ts';
import { ADDRESSES, addKey, addMerchant, addPartner, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import {
  addMerchantUser,
  addPartnerUser,
  addPerson,
  addShop,
  codeAt,
  follow,
  HOST,
  open,
  PASSWORD,
  submit,
  textOf,
  type Visitor,
} from '../../helpers/panel.ts';
import { addPayment } from '../../helpers/payments.ts';
import { requestPrompt } from '../../helpers/prompts.ts';

const MAKE = { twin: 'make' };

let service: TestApp;
beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

/** A live merchant, unless the options say otherwise. */
const openShop = (options: Parameters<typeof addShop>[2] = {}) => addShop(service, '', options);

async function twinOf({ id }: Merchant): Promise<Merchant> {
  const twin = await findTestTwin(service.db, id);
  if (twin === undefined) throw new Error('no twin');
  return twin;
}

test('an admin creates a twin with the same people and example addresses, and nothing else', async () => {
  const { partner } = await addPartner(service);
  const terms = { commissionBps: 120, settlement: 'direct' } as const;
  const { merchant, ada, path } = await openShop({ name: 'Tea', partnerId: partner.id, ...terms });
  const member = await addMerchantUser(service, merchant.id, 'member', { name: 'Bea' });
  const gone = await addMerchantUser(service, merchant.id, 'admin', { name: 'Gone' });
  await setUser(operatorOf(service), gone.userId, { status: 'inactive' });
  const invited = { merchantId: merchant.id, name: 'Invited', email: 'i@example.com' };
  await createUser(operatorOf(service), { ...invited, role: 'admin' });

  expect(textOf(await open(service, `${path}/settings/business`, ada))).toContain(
    'Make the test twin',
  );
  const made = await submit(service, `${path}/settings/test-twin`, MAKE, ada);
  const twin = await twinOf(merchant);
  expect(made.statusCode).toBe(303);
  expect(made.headers.location).toBe(`/panel/merchants/${twin.id}`);
  expect(textOf(await follow(service, made, ada))).toContain(
    'You are in the test twin now: Tea (test).',
  );
  expect(twin).toMatchObject({
    name: 'Tea (test)',
    environment: 'test',
    partner_id: partner.id,
    test_of: merchant.id,
    commission_bps: 120,
    settlement_model: 'direct',
    status: 'active',
  });
  const users = await service.db
    .selectFrom('merchant_users')
    .select(['name', 'role', 'person_id', 'client_id'])
    .where('merchant_id', '=', twin.id)
    .orderBy('role')
    .execute();
  expect(users).toEqual([
    { name: 'Ada', role: 'admin', person_id: ada.personId, client_id: null },
    { name: 'Bea', role: 'member', person_id: member.personId, client_id: null },
  ]);
  for (const table of ['api_keys', 'redirect_domains', 'webhook_endpoints'] as const) {
    const rows = await service.db
      .selectFrom(table as 'api_keys')
      .select('merchant_id')
      .where('merchant_id', '=', twin.id)
      .execute();
    expect(rows).toEqual([]);
  }
  const created = await requestPrompt(service, await addKey(service, { merchantId: twin.id }), {
    amount: 5000,
  });
  expect(created.statusCode, created.body).toBe(201);
  const audited = await service.db
    .selectFrom('audit_log')
    .select(['action', 'account_id', 'actor'])
    .where('account_id', 'in', [merchant.id, twin.id])
    .where('actor', '=', ada.email)
    .where('action', '<>', 'address.set')
    .orderBy('action')
    .execute();
  expect(audited).toEqual([
    { action: 'merchant.create', account_id: twin.id, actor: ada.email },
    { action: 'merchant.twin', account_id: merchant.id, actor: ada.email },
    { action: 'user.create', account_id: twin.id, actor: ada.email },
    { action: 'user.create', account_id: twin.id, actor: ada.email },
  ]);
});

test('two concurrent requests create one, and a second click leads to it', async () => {
  const { merchant, ada, path } = await openShop();
  const presses = [1, 2, 3].map(() => submit(service, `${path}/settings/test-twin`, MAKE, ada));
  const locations = (await Promise.all(presses)).map(({ headers }) => headers.location);
  const twin = `/panel/merchants/${(await twinOf(merchant)).id}`;
  expect(locations).toEqual([twin, twin, twin]);
  expect((await submit(service, `${path}/settings/test-twin`, MAKE, ada)).headers.location).toBe(
    twin,
  );
});

test('an admin who was added later is told whom to ask', async () => {
  const { merchant, path } = await openShop();
  await makeTestTwin(operatorOf(service), merchant.id);
  const later = await addMerchantUser(service, merchant.id, 'admin');
  const refused = await submit(service, `${path}/settings/test-twin`, MAKE, later);
  expect(refused.statusCode).toBe(422);
  expect(textOf(refused)).toContain('Ask one of its admins to invite you.');
  const page = await open(service, `${path}/settings/business`, later);
  expect(textOf(page)).toContain('The test twin of this account is Shop (test)');
  expect(page.body).not.toContain((await twinOf(merchant)).id);
});

test('a test merchant has no twin, and an inactive one creates none', async () => {
  const tested = await openShop({ environment: 'test', addresses: {} });
  const refused = await submit(service, `${tested.path}/settings/test-twin`, MAKE, tested.ada);
  expect(refused.statusCode).toBe(422);
  expect(textOf(refused)).toContain('This is a test merchant itself.');
  expect(textOf(await open(service, `${tested.path}/settings/business`, tested.ada))).not.toContain(
    'Test twin',
  );
  const idle = await openShop();
  await setMerchant(operatorOf(service), idle.merchant.id, { status: 'inactive' });
  await submit(service, `${idle.path}/settings/test-twin`, MAKE, idle.ada);
  for (const { merchant } of [tested, idle]) {
    expect(await findTestTwin(service.db, merchant.id)).toBeUndefined();
  }
});

test('a name of maximum length is shortened', async () => {
  const { merchant } = await openShop({ name: '🍵'.repeat(200) });
  const { name } = await makeTestTwin(operatorOf(service), merchant.id);
  expect([...name]).toHaveLength(200);
  expect(name.endsWith('🍵 (test)')).toBe(true);
});

test('the onboarding of a US merchant applies to its twin', async () => {
  for (const approved of [true, false]) {
    const { merchant } = await openShop({ kind: 'us', addresses: {}, approved });
    const { onboarding_status: status } = await makeTestTwin(operatorOf(service), merchant.id);
    expect(status).toBe(approved ? 'approved' : 'pending');
  }
});

test('a later onboarding result of a US merchant applies to its twin too', async () => {
  const { merchant } = await openShop({ kind: 'us', addresses: {}, approved: false });
  const { id: twinId } = await makeTestTwin(operatorOf(service), merchant.id);
  await setMerchant(operatorOf(service), merchant.id, { onboarding: 'approved', name: 'Tea' });
  const twin = await twinOf(merchant);
  expect(twin).toMatchObject({ onboarding_status: 'approved', name: 'Shop (test)' });
  expect(twin.onboarding_changed_at?.getTime()).toBe(service.clock.now);
  const entries = await service.db
    .selectFrom('audit_log')
    .select(['account_id', 'detail'])
    .where('action', '=', 'merchant.set')
    .where('object_id', '=', twinId)
    .execute();
  expect(entries).toEqual([{ account_id: twinId, detail: { onboarding_status: 'approved' } }]);
  // Not the other way round: the twin does not decide whether the live merchant may take money.
  await setMerchant(operatorOf(service), twinId, { onboarding: 'rejected' });
  const live = await findMerchant(service.db, merchant.id);
  expect(live?.onboarding_status).toBe('approved');
});

test('a twin that was left behind follows once its live merchant is set again', async () => {
  const { merchant } = await openShop({ kind: 'us', addresses: {}, approved: false });
  await makeTestTwin(operatorOf(service), merchant.id);
  // As before twins followed.
  await updateMerchant(service.db, merchant.id, { onboarding_status: 'approved' });
  await setMerchant(operatorOf(service), merchant.id, { onboarding: 'approved' });
  expect((await twinOf(merchant)).onboarding_status).toBe('approved');
});

describe('a test merchant is marked', () => {
  const BAND = '<aside class="test-band" aria-label="Test">Test: no real money</aside>';
  const TAG = '<span class="tag strong">Test</span>';
  let live: Awaited<ReturnType<typeof openShop>>;
  let twin: string;
  let ada: Visitor;
  beforeAll(async () => {
    live = await openShop({ name: 'Coffee' });
    ada = live.ada;
    await makeTestTwin(operatorOf(service), live.merchant.id);
    twin = `/panel/merchants/${(await twinOf(live.merchant)).id}`;
  });

  test('on each page of it, and on none of another account', async () => {
    for (const page of ['', '/payments', '/unmatched', '/settings/business', '/settings/team']) {
      const { body } = await open(service, twin + page, ada);
      expect(body).toContain(BAND);
      expect(body).toMatch(/<title>Test · /);
      expect(body).toContain(`Coffee (test) ${TAG}`);
      const other = await open(service, live.path + page, ada);
      expect(other.body).not.toContain(BAND);
      expect(other.body).not.toContain(TAG);
    }
    const missing = await open(
      service,
      `${twin}/payments/01890a5d-ac96-774b-bcce-b302099a8057`,
      ada,
    );
    expect(missing.statusCode).toBe(404);
    expect(missing.body).toContain(BAND);
  });

  test.each(['/panel/', '/panel/go/domains'])('in the list of accounts at %s', async list => {
    const { body } = await open(service, list, ada);
    expect(body).toContain(`Coffee (test)</a> ${TAG}`);
    expect(body).toContain('Coffee</a>');
    expect(body.split(TAG)).toHaveLength(2);
  });

  test('its pages offer only test networks, and refuse others', async () => {
    const list = await open(service, `${twin}/settings/addresses`, ada);
    expect(list.body).toContain('/settings/addresses/btc-test');
    expect(list.body).not.toMatch(/\/settings\/addresses\/btc["?]/);
    const branch = /name="branch" value="([^"]+)"/.exec(
      (await open(service, `${twin}/settings/addresses/btc-test`, ada)).body,
    )?.[1];
    const form = { branch: branch ?? '', address: ADDRESSES.btc, kind: 'address.set' };
    const refused = await submit(service, `${twin}/settings/addresses/btc/review`, form, ada);
    expect(refused.statusCode).toBe(422);
    expect(textOf(refused)).toContain('A test merchant has addresses on test networks alone');
  });

  test('in what its partner sees', async () => {
    const { partner } = await addPartner(service);
    const owner = await addPartnerUser(service, partner.id, 'owner');
    const options = { partnerId: partner.id, addresses: {} };
    await addMerchant(service, { ...options, name: 'Live one' });
    const { merchant } = await addMerchant(service, {
      ...options,
      name: 'Tried',
      environment: 'test',
    });
    const path = `/panel/partners/${partner.id}`;
    const { body } = await open(service, `${path}/merchants`, owner);
    expect(body).toContain(`Tried</a> ${TAG}`);
    expect(body.split(TAG)).toHaveLength(2);
    const page = await open(service, `${path}/merchants/${merchant.id}`, owner);
    expect(page.body).toContain(TAG);
    expect(textOf(page)).toContain('count in no figure');
    await addPayment(service.db, merchant, { created_at: new Date(service.clock.now) });
    const list = await open(service, `${path}/payments`, owner);
    expect(list.body).toContain(`Tried ${TAG}`);
    const file = await service.app.inject({
      url: `${path}/payments.csv`,
      headers: { host: HOST, cookie: owner.cookie, 'sec-fetch-site': 'same-origin' },
    });
    expect(file.body).toMatch(/,"?environment"?\r\n.*"Tried","test"\r\n$/);
  });
});

test('a person who has an account elsewhere cannot be added to a twin', async () => {
  const { merchant } = await openShop();
  const stranger = await addPerson(service);
  const { id } = await makeTestTwin(operatorOf(service), merchant.id);
  expect((await open(service, `/panel/merchants/${id}`, stranger)).statusCode).toBe(404);
});

describe('a person in both', () => {
  /** A shop and its twin, with two admins, Ada and Bob, and a member, Cy, in both. */
  async function openBoth() {
    const live = await openShop();
    const bob = await addMerchantUser(service, live.merchant.id, 'admin', { name: 'Bob' });
    const cy = await addMerchantUser(service, live.merchant.id, 'member', { name: 'Cy' });
    const twin = await makeTestTwin(operatorOf(service), live.merchant.id);
    return { ...live, bob, cy, twin, twinPath: `/panel/merchants/${twin.id}` };
  }

  /** The user that somebody signs in to the twin as. */
  async function userIn(twin: Merchant, { personId }: Visitor) {
    const user = await findUserOfPerson(service.db, {
      merchant_id: twin.id,
      person_id: personId,
    });
    if (user === undefined) throw new Error('no user');
    return user;
  }

  const standing = async (twin: Merchant, who: Visitor) => {
    const { role, status } = await userIn(twin, who);
    return { role, status };
  };

  function change(
    who: Visitor,
    path: string,
    fields: Readonly<Record<string, string>>,
  ): ReturnType<typeof submit> {
    service.clock.now += 30_000;
    const code = codeAt(who.secret, service.clock.now);
    return submit(service, path, { ...fields, code }, who);
  }

  const renew = (who: Visitor, path: string, id: string) =>
    change(who, `${path}/settings/team/${id}/link`, { purpose: 'both', intent: randomUUID() });

  test('gets a new link in the live account, which works, and none in the twin', async () => {
    const { ada, bob, path, twin, twinPath } = await openBoth();
    const refused = await renew(ada, twinPath, (await userIn(twin, bob)).id);
    expect(refused.statusCode).toBe(422);
    expect(textOf(refused)).toContain('an admin of the live account');

    const issued = await renew(ada, path, bob.userId);
    const link = /\/panel\/join\/[\w-]{43}/.exec(issued.body)?.[0] ?? '';
    const page = await open(service, link);
    const secret = /name="secret" value="(\w+)"/.exec(page.body)?.[1] ?? '';
    const code = codeAt(secret, service.clock.now);
    const taken = await submit(service, link, { email: '', password: PASSWORD, secret, code });
    expect(textOf(taken)).toContain('recovery codes');
  });

  test('with a third account gets a link in neither', async () => {
    const { ada, bob, path } = await openBoth();
    const other = await openShop();
    await service.db
      .updateTable('merchant_users')
      .set({ person_id: bob.personId })
      .where('id', '=', other.ada.userId)
      .execute();
    expect(textOf(await renew(ada, path, bob.userId))).toContain('only your operator');
  });

  test('is deactivated, and demoted, in the twin with the live account', async () => {
    const { ada, bob, cy, path, twin } = await openBoth();
    await change(ada, `${path}/settings/team/${bob.userId}/role`, { role: 'member' });
    expect(await standing(twin, bob)).toEqual({ role: 'member', status: 'active' });
    await change(ada, `${path}/settings/team/${cy.userId}/status`, { status: 'inactive' });
    expect(await standing(twin, cy)).toEqual({ role: 'member', status: 'inactive' });
    await setUser(operatorOf(service), bob.userId, { status: 'inactive' });
    expect(await standing(twin, bob)).toEqual({ role: 'member', status: 'inactive' });
    const entries = await service.db
      .selectFrom('audit_log')
      .select(['account_id', 'actor', 'object_id', 'detail'])
      .where('action', '=', 'user.set')
      .where('account_id', '=', twin.id)
      .orderBy('id')
      .execute();
    const about = async (who: Visitor) => ({
      account_id: twin.id,
      object_id: (await userIn(twin, who)).id,
    });
    expect(entries).toEqual([
      { ...(await about(bob)), actor: ada.email, detail: { role: 'member', was: 'admin' } },
      { ...(await about(cy)), actor: ada.email, detail: { status: 'inactive' } },
      { ...(await about(bob)), actor: 'test', detail: { status: 'inactive' } },
    ]);
    // Reactivation in the live account does not reach the twin.
    await change(ada, `${path}/settings/team/${cy.userId}/status`, { status: 'active' });
    expect(await standing(twin, cy)).toEqual({ role: 'member', status: 'inactive' });
  });

  test('stays the same in the live account, whatever the twin does', async () => {
    const { ada, bob, twin, twinPath, merchant } = await openBoth();
    const { id } = await userIn(twin, bob);
    await change(ada, `${twinPath}/settings/team/${id}/role`, { role: 'member' });
    await change(ada, `${twinPath}/settings/team/${id}/status`, { status: 'inactive' });
    expect(await standing(twin, bob)).toEqual({ role: 'member', status: 'inactive' });
    expect(await standing(merchant, bob)).toEqual({ role: 'admin', status: 'active' });
  });

  test('keeps a role in the twin that is higher than in the live account', async () => {
    const { cy, twin } = await openBoth();
    await setUser(operatorOf(service), (await userIn(twin, cy)).id, { role: 'admin' });
    await setUser(operatorOf(service), cy.userId, { role: 'member' });
    expect(await standing(twin, cy)).toEqual({ role: 'admin', status: 'active' });
  });

  test('is let in again by an admin once the twin has no admin any more', async () => {
    const { ada, bob, merchant, path, twin } = await openBoth();
    const later = await addMerchantUser(service, merchant.id, 'admin');
    const business = `${path}/settings/business`;
    await setUser(operatorOf(service), (await userIn(twin, bob)).id, { status: 'inactive' });
    expect(textOf(await open(service, business, later))).not.toContain('any more');
    await setUser(operatorOf(service), ada.userId, { status: 'inactive' });
    expect(textOf(await open(service, business, later))).toContain(
      'Nobody signs in as its admin any more. Let the people of this account in',
    );
    const entered = await submit(service, `${path}/settings/test-twin`, MAKE, later);
    expect(entered.headers.location).toBe(`/panel/merchants/${twin.id}`);
    const admin = { role: 'admin', status: 'active' };
    expect(await standing(twin, later)).toEqual(admin);
    expect(await standing(twin, bob)).toEqual(admin);
    expect(await standing(twin, ada)).toEqual({ ...admin, status: 'inactive' });
  });

  test('is not admitted to a twin that is created while they are deactivated', async () => {
    const { merchant, ada } = await openShop();
    await Promise.all([
      makeTestTwin(operatorOf(service), merchant.id),
      setUser(operatorOf(service), ada.userId, { status: 'inactive' }),
    ]);
    const own = await findUserOfPerson(service.db, {
      merchant_id: (await twinOf(merchant)).id,
      person_id: ada.personId,
    });
    expect(own?.status ?? 'inactive').toBe('inactive');
  });
});
