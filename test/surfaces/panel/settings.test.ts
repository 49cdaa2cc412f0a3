import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createBranch } from '#accounts/branches.ts';
import { setAddress } from '#accounts/deposit-addresses.ts';
import { setMerchant } from '#accounts/merchants.ts';
import { addDomain, REDIRECT_DOMAINS_MAXIMUM } from '#accounts/redirect-domains.ts';
import { listRedirectDomains } from '#storage/repositories/accounts/redirect-domains.ts';
import { setPerson } from '#storage/repositories/people/memberships.ts';
import { CURES } from '#surfaces/docs/error-pages.ts';
import { ADDRESSES, addMerchant, addPartner, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import {
  addMerchantUser,
  addPartnerUser,
  addPerson,
  addShop,
  answer,
  codeAt,
  entryOf,
  follow,
  open,
  submit,
  textOf,
} from '../../helpers/panel.ts';

/** The signature of pg's query with a callback. */
type Send = (config: pg.QueryConfig, answered: (error: Error | null) => void) => void;

let service: TestApp;

beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

async function openShop(options: Parameters<typeof addShop>[2] = {}) {
  const { path: settings, ...shop } = await addShop(service, '/settings', options);
  return { ...shop, settings };
}

describe('domains', () => {
  test('one is added and removed, and without any the page says what fails', async () => {
    const { merchant, ada, settings } = await openShop();
    const path = `${settings}/domains`;
    expect(textOf(await open(service, path, ada))).toContain('fails with E1010');
    const domain = ' Shop.Example.com ';
    expect((await submit(service, `${path}/add`, { domain }, ada)).statusCode).toBe(303);
    expect(await listRedirectDomains(service.db, merchant.id)).toEqual(['shop.example.com']);
    const page = textOf(await open(service, path, ada));
    expect(page).toContain('You can add 19 more domains.');
    expect(page).not.toContain('E1010');
    const fields = { domain: 'shop.example.com' };
    const asked = await submit(service, `${path}/remove`, fields, ada);
    expect(textOf(asked)).toContain('Remove shop.example.com? From then on');
    expect(await listRedirectDomains(service.db, merchant.id)).toEqual(['shop.example.com']);
    expect((await answer(service, asked, ada)).headers.location).toBe(path);
    expect(await listRedirectDomains(service.db, merchant.id)).toEqual([]);
    expect((await answer(service, asked, ada)).statusCode).toBe(422);
  });

  test('one that may have been added, because its commit was not confirmed, is not reported as unchanged', async () => {
    const { merchant, ada, settings } = await openShop();
    const broke = Object.assign(new Error('the connection broke'), { code: 'ECONNRESET' });
    const send: Send = pg.Client.prototype.query;
    const query = vi.spyOn(pg.Client.prototype as { query: Send }, 'query');
    query.mockImplementation(function (this: pg.Client, config, answered) {
      const isCommit = config.text === 'commit';
      return send.call(this, config, isCommit ? () => answered(broke) : answered);
    });
    const sent = { domain: 'shop.example.com' };
    const response = await submit(service, `${settings}/domains/add`, sent, ada);
    query.mockRestore();
    expect(response.statusCode).toBe(500);
    expect(await listRedirectDomains(service.db, merchant.id)).toEqual(['shop.example.com']);
    expect(textOf(response)).toContain('If you have sent a form, look first whether it was done');
  });

  test('a value that is no hostname is refused at its field, which keeps it', async () => {
    const { ada, settings } = await openShop();
    const sent = { domain: 'https://shop.example.com' };
    const response = await submit(service, `${settings}/domains/add`, sent, ada);
    expect(response.statusCode).toBe(422);
    expect(response.body).toContain('value="https://shop.example.com"');
    expect(response.body).toContain('aria-describedby="domain-fault"');
    expect(textOf(response)).toContain('give the hostname alone');
  });

  test('above the maximum there is no form, and one that is sent is refused', async () => {
    const { merchant, ada, settings } = await openShop();
    for (let n = 0; n < REDIRECT_DOMAINS_MAXIMUM; n++) {
      await addDomain(operatorOf(service), merchant.id, `s${n}.example.com`);
    }
    const page = await open(service, `${settings}/domains`, ada);
    expect(textOf(page)).toContain('Remove one to add another');
    expect(page.body).not.toContain('/domains/add');
    const sent = { domain: 'one.example.com' };
    const response = await submit(service, `${settings}/domains/add`, sent, ada);
    expect(textOf(response)).toContain('at most 20');
  });
});

describe('branches', () => {
  test('one is added, and made the main one', async () => {
    const { merchant, ada, settings } = await openShop();
    const path = `${settings}/branches`;
    const blank = await submit(service, path, { name: ' ' }, ada);
    expect(textOf(blank)).toContain('Give it a name');
    const added = await submit(service, path, { name: 'Kiosk' }, ada);
    expect(added.statusCode).toBe(303);
    const told = await follow(service, added, ada);
    expect(textOf(told)).toContain('Added: the branch Kiosk. Deposit addresses');
    const kiosk = await service.db
      .selectFrom('branches')
      .select(['id', 'is_main'])
      .where('merchant_id', '=', merchant.id)
      .where('name', '=', 'Kiosk')
      .executeTakeFirstOrThrow();
    expect(kiosk.is_main).toBe(false);
    expect(told.body).toContain(
      `href="${settings}/addresses?branch=${kiosk.id}">Deposit addresses`,
    );
    const form = `${path}/${kiosk.id}/main`;
    expect(textOf(await open(service, form, ada))).toContain('Now Main From then on Kiosk');
    const wrong = await submit(service, form, { code: '1' }, ada);
    expect(textOf(wrong)).toContain('This code is not right');
    const code = codeAt(ada.secret, service.clock.now);
    const made = await submit(service, form, { code }, ada);
    expect(made.headers.location).toBe(path);
    const page = textOf(await follow(service, made, ada));
    expect(page).toContain('Kiosk is the main branch now.');
    expect(page).toContain('Kiosk main');
  });

  test('one with a name that is taken is refused, and the form keeps it', async () => {
    const { ada, settings } = await openShop();
    const refused = await submit(service, `${settings}/branches`, { name: ' MAIN ' }, ada);
    expect(refused.statusCode).toBe(422);
    expect(textOf(refused)).toContain('The merchant has a branch named Main already.');
    expect(refused.body).toContain('value=" MAIN "');
  });

  test('without a main branch the pages say what fails', async () => {
    const { ada, settings } = await openShop({ withoutMainBranch: true });
    for (const page of ['branches', 'addresses']) {
      expect(textOf(await open(service, `${settings}/${page}`, ada))).toContain('E1030');
    }
  });
});

describe('a branch that is to be the main one', () => {
  async function openBoth(options: Parameters<typeof addShop>[2] = {}) {
    const shop = await openShop({ addresses: ADDRESSES, ...options });
    const operator = operatorOf(service);
    const branch = await createBranch(operator, {
      merchantId: shop.merchant.id,
      name: 'Kiosk',
      main: false,
    });
    return { ...shop, branch, form: `${shop.settings}/branches/${branch.id}/main` };
  }

  test('lacks addresses: the page says on which networks creations will fail', async () => {
    const { merchant, ada, branch, form } = await openBoth();
    const owner = { merchantId: merchant.id, branchId: branch.id };
    await setAddress(operatorOf(service), owner, 'btc', ADDRESSES.btc);
    const page = await open(service, form, ada);
    expect(textOf(page)).toContain('creating a payment for any of them fails with E1020');
    expect(page.body).toContain('<li>USDC on Ethereum Mainnet (<code>eth-usdc</code>)</li>');
    expect(page.body).not.toContain('<code>btc</code>');
    expect(page.body).toContain('>Make Kiosk the main branch</button>');
    for (const [network, address] of Object.entries(ADDRESSES)) {
      await setAddress(operatorOf(service), owner, network, address);
    }
    expect(textOf(await open(service, form, ada))).not.toContain('E1020');
  });

  test('waits: the button says so, and who approves it is told what will fail', async () => {
    const { merchant, ada, form } = await openBoth();
    const eve = await addMerchantUser(service, merchant.id, 'admin', { name: 'Eve' });
    await sql`update merchants set needs_second_admin = true where id = ${merchant.id}`.execute(
      service.db,
    );
    expect((await open(service, form, ada)).body).toContain(
      '>Propose to make Kiosk the main branch</button>',
    );
    const proposed = await submit(
      service,
      form,
      { code: codeAt(ada.secret, service.clock.now) },
      ada,
    );
    const page = textOf(await open(service, String(proposed.headers.location), eve));
    expect(page).toContain('Once Kiosk is the main branch');
    expect(page).toContain('ETH on Ethereum Mainnet ( eth )');
  });

  test('of a US account lacks nothing', async () => {
    const { ada, form } = await openBoth({ kind: 'us' });
    expect(textOf(await open(service, form, ada))).not.toContain('E1020');
  });
});

test('a US account is not advised to set addresses or domains, which its payments do not use', async () => {
  const { ada, settings } = await openShop({ kind: 'us', addresses: {} });
  for (const page of ['addresses', 'addresses/btc']) {
    const text = textOf(await open(service, `${settings}/${page}`, ada));
    expect(text).toContain('A US account needs no deposit address');
    expect(text).not.toContain('E1020');
  }
  const domains = textOf(await open(service, `${settings}/domains`, ada));
  expect(domains).toContain('Customers of a US account are not led back after paying');
  expect(domains).not.toContain('E1010');
  expect(textOf(await open(service, `${settings}/branches`, ada))).not.toContain('addresses.');
  const added = await submit(service, `${settings}/branches`, { name: 'Kiosk' }, ada);
  expect(textOf(await follow(service, added, ada))).not.toContain('Deposit addresses');
});

test('the business page shows the agreed terms, in words', async () => {
  const { partner } = await addPartner(service);
  const { merchant, ada, settings } = await openShop({
    partnerId: partner.id,
    commissionBps: 125,
    commissionPayer: 'shopper',
  });
  await setMerchant(operatorOf(service), merchant.id, { underpaymentToleranceBps: 50 });
  const page = textOf(await open(service, `${settings}/business`, ada));
  expect(page).toContain('Commission 1.25 %, paid by the shopper');
  expect(page).toContain('Too little that still settles 0.5 %');
  expect(page).toContain(`Partner ${partner.name}`);
  expect(page).toContain('Ask your operator');
});

describe('a link to a setting from outside', () => {
  test('leads to the only account, or lets the person choose', async () => {
    const { merchant, ada, settings } = await openShop({ name: 'First' });
    const only = await open(service, '/panel/go/domains', ada);
    expect(only.headers.location).toBe(`${settings}/domains`);
    const second = await addMerchant(service, {
      name: 'Second',
      environment: 'test',
      addresses: {},
    });
    const { userId } = await addMerchantUser(service, second.merchant.id, 'member');
    await service.db
      .updateTable('merchant_users')
      .set({ person_id: null })
      .where('id', '=', userId)
      .execute();
    await setPerson(service.db, 'merchant', userId, entryOf(service, ada));
    const several = await open(service, '/panel/go/domains', ada);
    expect(several.statusCode).toBe(200);
    for (const { id, name } of [merchant, second.merchant]) {
      expect(several.body).toContain(`"/panel/merchants/${id}/settings/domains">${name}<`);
    }
    expect(textOf(several)).toMatch(/First Second Test\s*$/);
    await service.db
      .updateTable('merchants')
      .set({ status: 'inactive' })
      .where('id', '=', second.merchant.id)
      .execute();
    const marked = await open(service, '/panel/go/domains', ada);
    expect(textOf(marked)).toMatch(/First Second Test inactive\s*$/);
  });

  test('leads only to what the role may see', async () => {
    const { partner } = await addPartner(service);
    const developer = await addPartnerUser(service, partner.id, 'developer');
    const keys = await open(service, '/panel/go/keys', developer);
    expect(keys.headers.location).toBe(`/panel/partners/${partner.id}/developer/keys`);
    for (const setting of ['self-service', 'domains']) {
      const page = await open(service, `/panel/go/${setting}`, developer);
      expect(textOf(page)).toContain('None of your accounts has this setting');
    }
    expect((await open(service, '/panel/go/nothing', developer)).statusCode).toBe(404);
  });

  test('asks visitors to sign in, and leads on', async () => {
    const { headers } = await open(service, '/panel/go/addresses');
    expect(headers.location).toBe('/panel/sign-in?next=%2Fpanel%2Fgo%2Faddresses');
    expect((await open(service, '/panel/go/keys', await addPerson(service))).statusCode).toBe(200);
  });

  test.each(Object.entries(CURES))('%s names its page and its command', async (code, cure) => {
    const { app } = service;
    const { payload } = await app.inject({ url: `/docs/errors/${code}.md`, headers: HOSTED });
    expect(payload).toContain(`/panel/go/${cure.setting})`);
    expect(payload).toContain(`\`${cure.command}\``);
    const visitor = await (cure.setting === 'self-service' ? owner() : admin());
    const { headers } = await open(service, `/panel/go/${cure.setting}`, visitor);
    const leads = await open(service, String(headers.location), visitor);
    expect(leads.statusCode).toBe(200);
  });
});

const HOSTED = { host: 'pay.example.test' };

async function owner() {
  const { partner } = await addPartner(service);
  return addPartnerUser(service, partner.id, 'owner');
}

async function admin() {
  return (await openShop()).ada;
}
