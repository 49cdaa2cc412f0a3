import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { revokeKey, rotateKey } from '#accounts/keys/manage-keys.ts';
import { linkFor } from '#accounts/people/invitations.ts';
import { auditPerson } from '#accounts/people/sign-in.ts';
import { setUser } from '#accounts/users.ts';
import { createEndpoint } from '#payments/webhooks/manage-endpoints.ts';
import { countLegacyRequest } from '#storage/repositories/keys/legacy-usage.ts';
import { firstIdOf } from '#storage/repositories/payments/events.ts';
import { newAddress } from '../../accounts/account-of-changes.ts';
import { ADDRESSES, addMerchant, addPartner, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { addEndpoint } from '../../helpers/deliveries.ts';
import {
  addMerchantUser,
  addPartnerUser,
  addSession,
  open,
  submit,
  textOf,
} from '../../helpers/panel.ts';
import { addPayment } from '../../helpers/payments.ts';
import { recordEvent } from '../../helpers/record-event.ts';

let service: TestApp;

beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

async function homeOf(merchantId: string, isDemo: boolean): Promise<string> {
  const { cookie } = await addMerchantUser(service, merchantId, 'admin', { isDemo });
  return textOf(await open(service, `/panel/merchants/${merchantId}`, { cookie }));
}

test('without payments it leads to the first one, and mentions the demo only there', async () => {
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
      amount,
      created_at: at,
      paid_at: at,
      transaction_hash: '0x1',
      blockchain_id: 'eth',
      status: 'successful',
      session_status: 'completed',
    });
  }
  const page = await homeOf(merchant.id, false);
  expect(page).toContain('Today $10.00 1 paid 7 days $30.00 2 paid 30 days $150.00 4 paid');
  expect(page).toContain('highest day $80.00');
});

test('it says what a first payment still needs to settle, and what helps', async () => {
  const { merchant, keyId } = await addMerchant(service, { addresses: {} });
  await revokeKey(operatorOf(service), keyId);
  const page = await homeOf(merchant.id, false);
  expect(page).toContain('Until a first payment can settle The main branch has no address');
  expect(page).toContain('creations are refused with E1020. Set an address');
  expect(page).toContain('nothing to sign its requests with. Create a key');
  expect(page).toContain('by asking for each payment. advised Add an endpoint');
  const { cookie } = await addMerchantUser(service, merchant.id, 'member');
  const seen = textOf(await open(service, `/panel/merchants/${merchant.id}`, { cookie }));
  expect(seen).toContain('nothing to sign its requests with. Ask a Merchant Admin');
});

test('if the account itself can do nothing, it names the operator’s command', async () => {
  const { partner } = await addPartner(service, { role: 'developer', selfService: false });
  const { merchant } = await addMerchant(service, { partnerId: partner.id });
  const page = await homeOf(merchant.id, false);
  expect(page).toContain('and has no key of its own. Ask your operator: mp partner set PARTNER');
});

test('an account without a main branch is led to its branches', async () => {
  const { merchant } = await addMerchant(service, { withoutMainBranch: true });
  expect(await homeOf(merchant.id, false)).toContain('refused with E1030. Add a branch');
});

test('recommendations are shown until a first payment has settled, that of a webhook until there is one', async () => {
  const { merchant } = await addMerchant(service, { addresses: { eth: newAddress() } });
  const before = await homeOf(merchant.id, false);
  expect(before).toContain('Before you go live No domain is allowed');
  expect(before).not.toContain('Nobody signs in');
  const at = new Date(service.clock.now);
  await addPayment(service.db, merchant, {
    created_at: at,
    paid_at: at,
    transaction_hash: '0x2',
    blockchain_id: 'eth',
    status: 'successful',
    session_status: 'completed',
  });
  const after = await homeOf(merchant.id, false);
  expect(after).not.toContain('No domain is allowed');
  expect(after).toContain('Still to set up No webhook endpoint');
  await addEndpoint(service, merchant.id);
  expect(await homeOf(merchant.id, false)).not.toContain('Still to set up');
});

test('a US account is advised no domain, and has a command of its own', async () => {
  const { merchant } = await addMerchant(service, { kind: 'us' });
  const page = await homeOf(merchant.id, true);
  expect(page).toContain('No webhook endpoint');
  expect(page).not.toContain('No domain is allowed');
  expect(page).toContain('5000}&#39; --as us');
  const { merchant: standard } = await addMerchant(service);
  expect(await homeOf(standard.id, true)).not.toContain('--as');
});

test('an endpoint that nothing could be delivered to for an hour needs attention', async () => {
  const { db, keyring, clock } = service;
  const { merchant } = await addMerchant(service);
  const { endpoint } = await createEndpoint(operatorOf(service), keyring, {
    merchantId: merchant.id,
    url: 'https://shop.example.com/secret-path',
    allowPrivateAddresses: false,
  });
  const payment = await addPayment(db, merchant, { created_at: new Date(clock.now) });
  const saysSo = async () => {
    const page = await homeOf(merchant.id, false);
    expect(page).not.toContain('secret-path');
    return page.includes(
      'Nothing could be delivered to the webhook endpoint at https://shop.example.com for an hour or more',
    );
  };
  /** Adds a delivery that is this many minutes old. */
  const deliver = async (minutes: number, status: 'pending' | 'failed' | 'succeeded') => {
    await sql`delete from webhook_deliveries where redelivery_of is null and status = 'cancelled'`.execute(
      db,
    );
    await recordEvent(db, 'payment_prompt.created', payment, new Date(clock.now));
    const at = new Date(clock.now - minutes * 60_000);
    await sql`
      update webhook_deliveries
      set status = ${status}, attempts = 4, created_at = ${at},
          next_attempt_at = ${status === 'pending' ? new Date(clock.now) : null},
          finished_at = ${status === 'pending' ? null : at}
      where endpoint_id = ${endpoint.id} and attempts = 0`.execute(db);
  };
  expect(await saysSo()).toBe(false);
  await deliver(59, 'pending');
  expect(await saysSo()).toBe(false);
  await deliver(61, 'pending');
  expect(await saysSo()).toBe(true);
  await deliver(30, 'succeeded');
  expect(await saysSo()).toBe(false);
  await deliver(20, 'failed');
  expect(await saysSo()).toBe(true);
  await deliver(10, 'succeeded');
  expect(await saysSo()).toBe(false);
});

test('a revoked key has no previous secret that still works', async () => {
  const { merchant, keyId } = await addMerchant(service);
  await rotateKey(operatorOf(service), service.keyring, keyId, false);
  const admin = await addMerchantUser(service, merchant.id, 'admin');
  const url = `/panel/merchants/${merchant.id}`;
  const pages = async () => [
    textOf(await open(service, url, admin)),
    textOf(await open(service, `${url}/settings/developer/keys/${keyId}`, admin)),
  ];
  for (const page of await pages()) expect(page).toMatch(/[Ff]ormer secret/);
  await revokeKey(operatorOf(service), keyId);
  const [home, key] = await pages();
  expect(home).not.toMatch(/[Ff]ormer secret/);
  expect(key).not.toMatch(/[Ff]ormer secret/);
  expect(key).toContain('revoked');
});

describe('what needs attention', () => {
  const MINUTE_MS = 60_000;
  const DAY_MS = 24 * 60 * MINUTE_MS;

  /** Adds failed requests of a key to the request log, `minutes` ago. */
  const addRefused = (
    { merchant, keyId }: Awaited<ReturnType<typeof addMerchant>>,
    {
      errorCode,
      requests,
      minutesAgo,
    }: { errorCode: string; requests: number; minutesAgo: number },
  ) => {
    const at = new Date(service.clock.now - minutesAgo * MINUTE_MS);
    return sql`
      insert into request_log
        (id, at, account_id, key_id, requests, milliseconds, status, verified, replayed, error_code,
         method, target, address)
      values (${firstIdOf(at.getTime())}, ${at}, ${merchant.id}, ${keyId}, ${requests}, 1, 401, false, false,
              ${errorCode}, 'GET', '/', '192.0.2.1')`.execute(service.db);
  };

  test('more than ten refused requests with one error within an hour', async () => {
    const shop = await addMerchant(service);
    const other = await addMerchant(service);
    await addRefused(shop, { errorCode: 'E2007', requests: 10, minutesAgo: 30 });
    await addRefused(shop, { errorCode: 'E2004', requests: 500, minutesAgo: 61 });
    await addRefused(shop, { errorCode: 'E1001', requests: 500, minutesAgo: 29 });
    await addRefused(other, { errorCode: 'E2003', requests: 500, minutesAgo: 28 });
    expect(await homeOf(shop.merchant.id, false)).not.toContain('refused with E2');
    await addRefused(shop, { errorCode: 'E2007', requests: 1, minutesAgo: 5 });
    const { cookie } = await addMerchantUser(service, shop.merchant.id, 'member');
    const url = `/panel/merchants/${shop.merchant.id}`;
    const page = await open(service, url, { cookie });
    expect(textOf(page)).toContain('11 requests refused with E2007 within the last hour');
    expect(textOf(page).match(/refused with E2/g)).toHaveLength(1);
    const list = `${url}/settings/developer/requests?code=E2007`;
    expect(page.body).toContain(`href="${list}"`);
    expect((await open(service, list, { cookie })).statusCode).toBe(200);
  });

  test('active networks of a kind in use that have no address', async () => {
    const { merchant } = await addMerchant(service, { addresses: { eth: ADDRESSES.eth } });
    const { count } = await service.db
      .selectFrom('networks')
      .select(({ fn }) => fn.countAll<string>().as('count'))
      .where('environment', '=', 'production')
      .where('is_active', '=', true)
      .where('settled_by', '!=', 'nobody')
      .executeTakeFirstOrThrow();
    expect(Number(count)).toBeGreaterThan(2);
    expect(await homeOf(merchant.id, false)).toContain(
      `${Number(count) - 1} active networks on which customers cannot pay you`,
    );
    // If there is no address at all, the steps say so.
    const { merchant: empty } = await addMerchant(service, { addresses: {} });
    expect(await homeOf(empty.id, false)).not.toContain('on which customers cannot pay you');
  });

  test('who is no longer an admin, and changes to somebody’s own credentials, for a week', async () => {
    const { merchant } = await addMerchant(service);
    const url = `/panel/merchants/${merchant.id}`;
    const add = (name: string, role: 'admin' | 'member' = 'admin') =>
      addMerchantUser(service, merchant.id, role, { name, withPassword: true });
    const [ada, bob, cy] = [await add('Ada'), await add('Bob'), await add('Cy', 'member')];
    const see = async () =>
      textOf(await open(service, url, { cookie: await addSession(service, cy) }));
    const by = { ...operatorOf(service), actor: ada.email, personId: ada.personId };
    await setUser(by, bob.userId, { role: 'member' });
    const day = new Date(service.clock.now).toISOString().slice(0, 10);
    const removed = `Bob is no admin any more: changed on ${day} by ${ada.email}`;
    expect(await see()).toContain(removed);
    await setUser(operatorOf(service), bob.userId, { role: 'admin' });
    expect(await see()).not.toContain('is no admin any more');
    await setUser(operatorOf(service), bob.userId, { status: 'inactive' });
    expect(await see()).toContain(`Bob is no admin any more: changed on ${day} by your operator`);

    const { token } = await linkFor(by, { userId: cy.userId }, 'password');
    expect(await see()).toContain(`${ada.email} made a link for a new password`);
    await submit(service, `/panel/join/${token}`, { password: 'another password that is long' });
    expect(await see()).toMatch(/A link gave you a new password or authenticator app on \S+ at/);
    // Nobody else is told.
    const other = await open(service, url, { cookie: await addSession(service, ada) });
    expect(textOf(other)).not.toMatch(/made a link|A link gave you/);
    service.clock.now += 7 * DAY_MS + MINUTE_MS;
    expect(await see()).not.toMatch(/no admin any more|made a link|A link gave you/);
  });

  test.each([
    ['password', 'Your password was changed on'],
    ['app', 'Your authenticator app was replaced on'],
    ['recovery-codes', 'Your recovery codes were replaced on'],
    ['email', 'The e-mail that you sign in with was changed on'],
  ])('a change of the %s', async (what, said) => {
    const { merchant } = await addMerchant(service);
    const admin = await addMerchantUser(service, merchant.id, 'admin');
    const url = `/panel/merchants/${merchant.id}`;
    expect(textOf(await open(service, url, admin))).not.toContain(said);
    await auditPerson(
      service.db,
      {
        id: admin.personId,
        email: admin.email,
        email_confirmed_at: new Date(service.clock.now),
        is_demo: false,
      },
      `person.${what}`,
      { address: '192.0.2.7', now: new Date(service.clock.now) },
    );
    expect(textOf(await open(service, url, admin))).toContain(said);
  });

  test('the older contract, while it is used', async () => {
    const { merchant } = await addMerchant(service);
    const dayOf = (days: number) =>
      new Date(service.clock.now - days * DAY_MS).toISOString().slice(0, 10);
    const route = 'POST /external/payments/prompt';
    await countLegacyRequest(service.db, merchant.id, dayOf(8), route);
    expect(await homeOf(merchant.id, false)).not.toContain('older contract');
    await countLegacyRequest(service.db, merchant.id, dayOf(2), route);
    expect(await homeOf(merchant.id, false)).toContain(
      `The older contract is still used, last on ${dayOf(2)}`,
    );
  });
});

test('a page names its account outside of the menu, which a phone folds, unless its title does', async () => {
  const { merchant } = await addMerchant(service, {
    name: 'Blue Coffee',
    environment: 'test',
    addresses: {},
  });
  const { cookie } = await addMerchantUser(service, merchant.id, 'admin');
  const nameOn = async (path: string) => {
    const { body } = await open(service, `/panel/merchants/${merchant.id}${path}`, { cookie });
    return /<p class="here">([\s\S]*?)<\/p>/.exec(body)?.[1];
  };
  expect(await nameOn('/settings/team')).toMatch(/^Blue Coffee <span class="tag strong">Test</);
  expect(await nameOn('')).toBeUndefined();
});

test('the navigation marks its entry on the pages below it, too', async () => {
  const { merchant, keyId } = await addMerchant(service);
  const { cookie } = await addMerchantUser(service, merchant.id, 'admin');
  const markedOn = async (path: string) => {
    const { body } = await open(service, `/panel/merchants/${merchant.id}${path}`, { cookie });
    const side = body.slice(body.indexOf('class="side'), body.indexOf('<main'));
    return [...side.matchAll(/aria-current="(\w+)">([^<]+)</g)].map(([, how, text]) => [text, how]);
  };
  expect(await markedOn('')).toEqual([['Home', 'page']]);
  expect(await markedOn('/settings/developer/keys')).toEqual([['API keys', 'page']]);
  expect(await markedOn(`/settings/developer/keys/${keyId}`)).toEqual([['API keys', 'true']]);
  expect(await markedOn('/settings/developer/keys/new')).toEqual([['API keys', 'true']]);
});

test('the bar leads to the guide for shop owners, but not in the account of a partner', async () => {
  const guide = 'href="https://pay.example.test/docs/shop"';
  const { merchant } = await addMerchant(service);
  const { partner } = await addPartner(service);
  const admin = await addMerchantUser(service, merchant.id, 'admin');
  const owner = await addPartnerUser(service, partner.id, 'owner');
  expect((await open(service, '/panel/sign-in')).body).toContain(guide);
  expect((await open(service, `/panel/merchants/${merchant.id}`, admin)).body).toContain(guide);
  expect((await open(service, `/panel/partners/${partner.id}`, owner)).body).not.toContain(guide);
});
