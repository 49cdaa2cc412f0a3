import { sql } from 'kysely';
import { register } from 'prom-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addAddress, setAddress } from '#accounts/deposit-addresses.ts';
import { setMerchant } from '#accounts/merchants.ts';
import { setUser } from '#accounts/users.ts';
import { listAddressesOn } from '#storage/repositories/accounts/deposit-addresses.ts';
import { findMainBranch } from '#storage/repositories/accounts/merchants.ts';
import { listOpenFindings } from '#storage/repositories/chains/findings.ts';
import { newAddress } from '../../accounts/account-of-changes.ts';
import { addMerchant, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import {
  addMerchantUser,
  addSession,
  codeAt,
  follow,
  open,
  submit,
  textOf,
  type Visitor,
  wrongCodeAt,
} from '../../helpers/panel.ts';
import { addPayment } from '../../helpers/payments.ts';

const HOUR_MS = 60 * 60_000;
const NETWORK = 'eth';

let service: TestApp;

beforeAll(async () => {
  service = await startTestApp({ env: { PANEL_ADDRESS_DELAY_HOURS: '24' } });
});
afterAll(() => service.close());

interface Shop {
  readonly merchantId: string;
  readonly branchId: string;
  readonly address: string;
  readonly ada: Visitor & { readonly userId: string };
  readonly bob: Visitor & { readonly userId: string };
  readonly cy: Visitor;
  /** Path of the settings page. */
  readonly settings: string;
}

/** A shop with an address, two admins and a member. */
async function openShop(hasEarned = true): Promise<Shop> {
  const address = newAddress();
  const { merchant } = await addMerchant(service, { addresses: { [NETWORK]: address } });
  const now = new Date(service.clock.now);
  if (hasEarned) {
    await addPayment(service.db, merchant, {
      created_at: now,
      paid_at: now,
      status: 'successful',
      session_status: 'completed',
    });
  }
  const branch = await findMainBranch(service.db, merchant.id);
  const person = (role: 'admin' | 'member', name: string) =>
    addMerchantUser(service, merchant.id, role, { name });
  const shop = {
    merchantId: merchant.id,
    branchId: branch?.id ?? '',
    address,
    ada: await person('admin', 'Ada'),
    bob: await person('admin', 'Bob'),
    cy: await person('member', 'Cy'),
    settings: `/panel/merchants/${merchant.id}/settings`,
  };
  service.clock.now += 24 * HOUR_MS;
  return shop;
}

/** A session whose second factor was entered some minutes ago. */
async function sessionOf(visitor: Visitor, minutesAgo = 60): Promise<{ cookie: string }> {
  return { cookie: await addSession(service, visitor, minutesAgo) };
}

/** An unused code: the clock moves to the next one. */
function nextCode({ secret }: Visitor): string {
  service.clock.now += 30_000;
  return codeAt(secret, service.clock.now);
}

interface Proposal {
  readonly address: string;
  readonly code: string;
  readonly session: { cookie: string };
  readonly seen?: string;
}

function propose(shop: Shop, { address, code, session, seen = shop.address }: Proposal) {
  const fields = { branch: shop.branchId, kind: 'address.set', address, seen, code };
  return submit(service, `${shop.settings}/addresses/${NETWORK}/propose`, fields, session);
}

/** Proposes an address as Ada. */
async function proposeOne(shop: Shop) {
  const address = newAddress();
  const session = await sessionOf(shop.ada);
  const response = await propose(shop, { address, code: nextCode(shop.ada), session });
  return { address, response, path: String(response.headers.location) };
}

const inForce = ({ branchId }: Shop) => listAddressesOn(service.db, branchId, NETWORK);

const fours = (address: string) => (address.match(/.{1,4}/g) ?? []).join(' ');

test('an address is compared with the current one in groups of four, and waits', async () => {
  const shop = await openShop();
  const address = newAddress();
  const session = await sessionOf(shop.ada);
  const fields = { branch: shop.branchId, kind: 'address.set', address: address.toLowerCase() };
  const path = `${shop.settings}/addresses/${NETWORK}`;
  const review = await submit(service, `${path}/review`, fields, session);
  expect(review.statusCode).toBe(200);
  const compared = textOf(review).replaceAll(/\s+/g, ' ');
  expect(compared).toContain(`Now ${fours(shop.address)}`);
  expect(compared).toContain(`From then on ${fours(address)}`);
  expect(compared).toContain('It waits for 24 hours');
  expect(await inForce(shop)).toEqual([shop.address]);

  const code = nextCode(shop.ada);
  const proposed = await propose(shop, { address, code, session });
  expect(proposed.statusCode).toBe(303);
  expect(proposed.headers.location).toMatch(/\/settings\/changes\/[0-9a-f-]{36}$/);
  const told = textOf(await follow(service, proposed, session));
  expect(told).toContain('Proposed. Until it takes effect, any admin can cancel it.');
  expect(told).toContain('Network ETH on Ethereum Mainnet ( eth )');
  expect(await inForce(shop)).toEqual([shop.address]);
  const again = await submit(service, `${path}/review`, fields, session);
  expect(again.statusCode).toBe(200);
  const page = textOf(await open(service, path, session));
  expect(page).toContain('Waiting changes Replace the deposit address');
  expect(page).not.toContain('A new address');
});

test('a refused address stays in the form', async () => {
  const shop = await openShop();
  const fields = { branch: shop.branchId, kind: 'address.add', address: 'no <address>' };
  const path = `${shop.settings}/addresses/${NETWORK}/review`;
  const refused = await submit(service, path, fields, await sessionOf(shop.ada));
  expect(refused.statusCode).toBe(422);
  expect(refused.body).toContain('value="no &lt;address&gt;"');
  expect(refused.body).toContain('<option value="address.add" selected>');
});

test('everybody sees pending changes on every page, once and first', async () => {
  const shop = await openShop();
  const { path } = await proposeOne(shop);
  const notice =
    'A new deposit address for ETH on Ethereum Mainnet, branch Main, waits. Look at it';
  for (const page of ['', '/payments', '/unmatched', '/settings/business', '/nothing']) {
    const url = shop.settings.replace('/settings', page);
    for (const visitor of [shop.bob, shop.cy]) {
      const response = await open(service, url, await sessionOf(visitor));
      expect(textOf(response), page).toContain(notice);
      expect(textOf(response).match(/A new deposit address/g), page).toHaveLength(1);
      expect(response.body).toContain(`href="${path}"`);
    }
  }
});

test('any admin can cancel one with one click, with a factor of hours ago', async () => {
  const shop = await openShop();
  const { path, address } = await proposeOne(shop);
  const member = await submit(service, `${path}/cancel`, {}, await sessionOf(shop.cy));
  expect(member.statusCode).toBe(403);
  const session = await sessionOf(shop.bob);
  const cancelled = await submit(service, `${path}/cancel`, {}, session);
  expect(cancelled.statusCode).toBe(303);
  const page = textOf(await follow(service, cancelled, session));
  expect(page).toContain('Cancelled.');
  expect(page).toContain('It was cancelled. Nothing has changed.');
  expect(page).toContain(`Proposed instead ${fours(address)}`);
  const late = await submit(service, `${path}/cancel`, {}, session);
  expect(late.statusCode).toBe(422);
  expect(textOf(late)).toContain('does not wait any more');
  expect(await inForce(shop)).not.toContain(address);
});

test('another admin approves it with a code, and it takes effect at once', async () => {
  const shop = await openShop();
  const { path, address } = await proposeOne(shop);
  const own = await open(service, path, await sessionOf(shop.ada));
  expect(textOf(own)).toContain('another admin can approve it');
  expect(own.body).not.toContain('/approve"');
  const refused = await submit(
    ...([service, `${path}/approve`, { code: nextCode(shop.ada) }] as const),
    await sessionOf(shop.ada),
  );
  expect(refused.statusCode).toBe(422);
  const session = await sessionOf(shop.bob);
  const approval = { code: nextCode(shop.bob) };
  const approved = await submit(service, `${path}/approve`, approval, session);
  expect(approved.statusCode).toBe(303);
  expect(await inForce(shop)).toEqual([address]);
  const page = textOf(await follow(service, approved, session));
  expect(page).toContain('Approved.');
  expect(page).toContain(`It has taken effect. Before ${fours(shop.address)}`);
  expect(page).toContain(`Since then ${fours(address)}`);
});

test('nothing changes without a fresh code of the person who sends the form', async () => {
  const shop = await openShop();
  // The factor of this session is a minute old, which suffices for other changes.
  const session = await sessionOf(shop.ada, 1);
  const address = newAddress();
  const { now } = service.clock;
  const wrong = [
    ...['', wrongCodeAt(shop.ada.secret, now), codeAt(shop.bob.secret, now)],
    codeAt(shop.ada.secret, now - 60_000),
  ];
  for (const code of wrong) {
    const response = await propose(shop, { address, code, session });
    expect(response.statusCode, code).toBe(422);
    expect(textOf(response), code).toContain('This code is not right');
  }
  const code = nextCode(shop.ada);
  const fresh = await sessionOf(shop.ada);
  expect((await propose(shop, { address, code, session: fresh })).statusCode).toBe(303);
  // The code counts once: neither for another change nor in another session.
  for (const session of [fresh, await sessionOf(shop.ada)]) {
    const replayed = await propose(shop, { address: newAddress(), code, session });
    expect(replayed.statusCode).toBe(422);
    expect(textOf(replayed)).toContain('This code is not right');
  }
  const { count } = await service.db
    .selectFrom('address_changes')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('merchant_id', '=', shop.merchantId)
    .where('person_id', 'is not', null)
    .executeTakeFirstOrThrow();
  expect(count).toBe(1);
});

test('a form whose addresses have changed meanwhile is refused', async () => {
  const shop = await openShop();
  const other = newAddress();
  await setAddress(operatorOf(service), { merchantId: shop.merchantId }, NETWORK, other);
  const session = await sessionOf(shop.ada);
  const proposal = { address: newAddress(), code: nextCode(shop.ada), session };
  const response = await propose(shop, proposal);
  expect(response.statusCode).toBe(422);
  expect(textOf(response)).toContain('changed while this form was open');
  // It shows the current address.
  expect(textOf(response).replaceAll(/\s+/g, ' ')).toContain(`Now ${fours(other)}`);
});

test('an admin who was demoted, or is new, changes nothing', async () => {
  const shop = await openShop();
  const { path } = await proposeOne(shop);
  const eve = await addMerchantUser(service, shop.merchantId, 'admin', { name: 'Eve' });
  const code = nextCode(eve);
  const refused = await submit(service, `${path}/approve`, { code }, { cookie: eve.cookie });
  expect(refused.statusCode).toBe(422);
  expect(textOf(refused)).toContain('for long enough');
  await setUser(operatorOf(service), shop.bob.userId, { role: 'member' });
  const session = await sessionOf(shop.bob, 1);
  for (const form of ['cancel', 'approve']) {
    const response = await submit(service, `${path}/${form}`, {}, session);
    expect(response.statusCode).toBe(403);
  }
});

test('while there is no successful payment, a change takes effect at once', async () => {
  const shop = await openShop(false);
  const { address, response } = await proposeOne(shop);
  expect(response.headers.location).toBe(`${shop.settings}/addresses/${NETWORK}`);
  expect(await inForce(shop)).toEqual([address]);
  expect(textOf(await follow(service, response, await sessionOf(shop.bob)))).toContain(
    `Payments for ETH on Ethereum Mainnet now go to ${address}.`,
  );
  const page = await open(
    service,
    shop.settings.replace('/settings', ''),
    await sessionOf(shop.bob),
  );
  expect(textOf(page)).not.toContain('A new deposit address');
});

test('removing asks first, with a recent factor, and takes effect at once', async () => {
  const shop = await openShop();
  const path = `${shop.settings}/addresses/${NETWORK}`;
  const fields = { branch: shop.branchId, address: shop.address };
  const stale = await submit(service, `${path}/remove`, fields, await sessionOf(shop.ada));
  expect(textOf(stale)).toContain('Remove an address for ETH on Ethereum Mainnet?');
  expect(stale.body).toContain('name="confirmation-code"');
  const session = await sessionOf(shop.ada, 1);
  const asked = await submit(service, `${path}/remove`, fields, session);
  expect(asked.body).not.toContain('name="confirmation-code"');
  expect(asked.body).toContain('ETH on Ethereum Mainnet (<code>eth</code>)');
  const question = textOf(asked);
  expect(question).toContain(fours(shop.address));
  expect(question).toContain('Main has no other address on this network');
  expect(question).toContain('creating a payment for this network fails with E1020');
  expect(question).toContain('Payments that are open keep the address that they show');
  expect(question).not.toContain('lapses');
  expect(asked.body).toContain(`href="${path}"`);
  expect(await inForce(shop)).toEqual([shop.address]);

  const sure = { ...fields, 'confirmation-sure': 'yes' };
  const removed = await submit(service, `${path}/remove`, sure, session);
  expect([removed.statusCode, removed.headers.location]).toEqual([303, path]);
  expect(textOf(await follow(service, removed, session))).toContain(
    `Removed for ETH on Ethereum Mainnet: ${shop.address}.`,
  );
  expect(await inForce(shop)).toEqual([]);
  const page = textOf(await open(service, `${shop.settings}/addresses`, session));
  expect(page).toContain('While the main branch has none, creating a payment fails with E1020');
  for (const again of [fields, sure]) {
    expect((await submit(service, `${path}/remove`, again, session)).statusCode).toBe(422);
  }
});

test('removing one of several addresses fails nothing, and any removal tells what it lets lapse', async () => {
  const shop = await openShop();
  const { merchantId, branchId, address } = shop;
  const session = await sessionOf(shop.ada, 1);
  const path = `${shop.settings}/addresses/${NETWORK}/remove`;
  const ask = async () =>
    textOf(await submit(service, path, { branch: branchId, address }, session));
  await proposeOne(shop);
  expect(await ask()).toContain('The change of these addresses that waits lapses');
  await addAddress(operatorOf(service), { merchantId }, NETWORK, newAddress());
  expect(await ask()).toContain('Remove this address');
  expect(await ask()).not.toContain('E1020');
});

test('a change that an operator makes at once is shown on every page for a day', async () => {
  const shop = await openShop();
  const address = newAddress();
  await setAddress(operatorOf(service), { merchantId: shop.merchantId }, NETWORK, address);
  const told =
    'Your operator has set a deposit address for ETH on Ethereum Mainnet, branch Main. Look at it';
  const url = `${shop.settings}/business`;
  expect(textOf(await open(service, url, await sessionOf(shop.bob)))).toContain(told);
  service.clock.now += HOUR_MS;
  // For somebody who has never seen another address, it is no change.
  const newcomer = await addMerchantUser(service, shop.merchantId, 'admin');
  expect(textOf(await open(service, url, newcomer))).not.toContain(told);
  expect(textOf(await open(service, url, await sessionOf(shop.bob)))).toContain(told);
  service.clock.now += 23 * HOUR_MS;
  const later = textOf(await open(service, url, await sessionOf(shop.bob)));
  expect(later).not.toContain(told);
  await setAddress(operatorOf(service), { merchantId: shop.merchantId }, NETWORK, address);
  const same = textOf(await open(service, url, await sessionOf(shop.bob)));
  expect(same).not.toContain(told);
});

test('objects of another account look like missing ones', async () => {
  const [shop, others] = [await openShop(), await openShop()];
  const { path } = await proposeOne(others);
  const changeId = path.split('/').at(-1) ?? '';
  const missing = '0190a0a0-0000-7000-8000-000000000000';
  const session = await sessionOf(shop.ada, 1);
  const { settings } = shop;
  /** Without the request's own ID. */
  const bytes = ({ body, statusCode }: { body: string; statusCode: number }, id: string) =>
    `${statusCode} ${body.replaceAll(/<code>[0-9a-f-]{36}<\/code>/g, '').replaceAll(id, '')}`;
  const same = async (ask: (id: string) => ReturnType<typeof open>, id: string) => {
    const [theirs, nobodys] = [await ask(id), await ask(missing)];
    expect(theirs.statusCode).toBe(404);
    expect(bytes(theirs, id)).toBe(bytes(nobodys, missing));
  };
  await same(id => open(service, `${settings}/changes/${id}`, session), changeId);
  for (const form of ['cancel', 'approve']) {
    const url = (id: string) => `${settings}/changes/${id}/${form}`;
    await same(id => submit(service, url(id), {}, session), changeId);
  }
  const { branchId } = others;
  await same(id => open(service, `${settings}/branches/${id}/main`, session), branchId);
  await same(id => submit(service, `${settings}/branches/${id}/main`, {}, session), branchId);
  await same(id => open(service, `${settings}/addresses?branch=${id}`, session), branchId);
  const network = `${settings}/addresses/${NETWORK}`;
  await same(id => open(service, `${network}?branch=${id}`, session), branchId);
  for (const form of ['review', 'propose', 'remove']) {
    const fields = { kind: 'address.set', address: newAddress(), code: '' };
    const sent = ({ kind, address, code }: typeof fields) => ({
      ...(form === 'remove' ? { address } : { kind, address }),
      ...(form === 'propose' ? { code } : {}),
    });
    await same(
      id => submit(service, `${network}/${form}`, { branch: id, ...sent(fields) }, session),
      branchId,
    );
  }
  const waiting = await open(service, path, await sessionOf(others.bob));
  expect(textOf(waiting)).toContain('Cancel this change');
});

test('a second admin can be required for every change, and that can be relaxed only after the delay', async () => {
  const shop = await openShop();
  const session = await sessionOf(shop.ada, 1);
  const { settings } = shop;
  const asked = textOf(await submit(service, `${settings}/second-admin`, {}, session));
  expect(asked).toContain('waits until another admin has approved it');
  expect(asked).toContain('It waits for 24 hours');
  expect(asked).not.toContain('always takes a second admin');
  const sure = { 'confirmation-sure': 'yes' };
  const required = await submit(service, `${settings}/second-admin`, sure, session);
  expect(required.statusCode).toBe(303);
  expect(textOf(await follow(service, required, session))).toContain(
    'What changes where money goes takes a second admin now.',
  );
  const { path } = await proposeOne(shop);
  expect(textOf(await open(service, path, session))).toContain(
    'Takes effect when another admin has approved it',
  );
  const code = nextCode(shop.ada);
  const relaxed = await submit(service, `${settings}/second-admin/relax`, { code }, session);
  expect(relaxed.headers.location).toMatch(/\/changes\//);
  const page = textOf(await open(service, `${settings}/addresses`, session));
  expect(page).toContain('No longer ask for a second admin');
  expect(page).toContain('always takes a second admin');
});

test('a person of the demo needs no code', async () => {
  const { merchant } = await addMerchant(service, { addresses: {} });
  const demo = await addMerchantUser(service, merchant.id, 'admin', { isDemo: true });
  const branch = await findMainBranch(service.db, merchant.id);
  const url = `/panel/merchants/${merchant.id}/settings/addresses/${NETWORK}`;
  const fields = { branch: branch?.id ?? '', kind: 'address.set', address: newAddress() };
  const review = await submit(service, `${url}/review`, fields, demo);
  expect(review.body).not.toContain('name="code"');
  expect((await submit(service, `${url}/propose`, fields, demo)).statusCode).toBe(303);
  expect(await listAddressesOn(service.db, branch?.id ?? '', NETWORK)).toEqual([fields.address]);
});

test('an inactive account is read-only, and pending changes do not take effect', async () => {
  const shop = await openShop();
  const { path } = await proposeOne(shop);
  await setMerchant(operatorOf(service), shop.merchantId, { status: 'inactive' });
  const session = await sessionOf(shop.bob, 1);
  expect((await open(service, path, session)).statusCode).toBe(200);
  for (const form of ['cancel', 'approve']) {
    const response = await submit(service, `${path}/${form}`, {}, session);
    expect(response.statusCode).toBe(403);
    expect(response.body).toContain('inactive');
  }
});

test('a merchant that wants another’s address is refused and told whom to ask, and the operator is notified', async () => {
  const [shop, rival] = [await openShop(), await openShop()];
  const session = await sessionOf(rival.ada);
  const fields = { branch: rival.branchId, kind: 'address.set', address: shop.address };
  // On a chain of the same family, which the other one has not set up.
  const path = `${rival.settings}/addresses/bnb`;
  const review = await submit(service, `${path}/review`, fields, session);
  expect(review.statusCode).toBe(422);
  expect(textOf(review)).toContain('Another account of this service has this address');
  expect(textOf(review)).toContain('ask your operator');
  expect(review.body).not.toContain(shop.merchantId);

  const code = nextCode(rival.ada);
  const proposed = await submit(service, `${path}/propose`, { ...fields, seen: '', code }, session);
  expect(proposed.statusCode).toBe(422);
  expect(textOf(proposed)).toContain('ask your operator');
  expect(proposed.body).not.toContain(shop.merchantId);

  const findings = await listOpenFindings(service.db, 100, {
    chain: 'bnb',
    kind: 'address_refused',
  });
  expect(findings).toMatchObject([{ blockchain_id: 'bnb', address: shop.address }]);
  expect(findings[0]?.detail).toContain(`Merchant ${rival.merchantId} was refused this address`);
  expect(findings[0]?.detail).toContain(`merchant ${shop.merchantId} has`);
  const metric = await register.getSingleMetric('eps_addresses_refused_total')?.get();
  expect(metric?.values[0]?.value).toBe(2);
});

test('of two who concurrently send the form for one address, one gets it', async () => {
  for (let round = 0; round < 3; round++) {
    const shops = [await openShop(), await openShop()];
    const address = newAddress();
    const sent = [];
    for (const shop of shops) {
      sent.push({ shop, session: await sessionOf(shop.ada), code: nextCode(shop.ada) });
    }
    const responses = await Promise.all(
      sent.map(({ shop, session, code }) => propose(shop, { address, code, session })),
    );
    expect(responses.map(({ statusCode }) => statusCode).sort()).toEqual([303, 422]);
    const { rows } = await sql`
      select from address_changes where address = ${address} and outcome is null`.execute(
      service.db,
    );
    expect(rows).toHaveLength(1);
  }
});
