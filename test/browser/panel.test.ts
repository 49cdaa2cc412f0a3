import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { proposeAddress, requireSecondAdmin } from '../../src/accounts/address-changes.ts';
import { createBranch } from '../../src/accounts/branches.ts';
import { createUser } from '../../src/accounts/users.ts';
import { inviteUser, makeLink } from '../../src/panel/people/invitations.ts';
import { setPerson } from '../../src/repositories/people/memberships.ts';
import { observeTransfer } from '../../src/settlement/observe-transfer.ts';
import { disableEndpoint } from '../../src/webhooks/change-endpoint.ts';
import { newAddress } from '../accounts/account-of-changes.ts';
import { addMerchant, addPartner, type MerchantWithKey, operatorOf } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { DESKTOP, launchBrowser, NARROW, PHONE, windowOf } from '../helpers/browser.ts';
import { addDelivery, addEndpoint } from '../helpers/deliveries.ts';
import { addRequest } from '../helpers/logged-requests.ts';
import {
  addMerchantUser,
  addPartnerUser,
  addPerson,
  codeAt,
  entryOf,
  PASSWORD,
} from '../helpers/panel.ts';
import { addPayment } from '../helpers/payments.ts';
import { createPrompt } from '../helpers/prompts.ts';
import { send } from '../helpers/signed-request.ts';
import { expectAccessible } from './accessible.ts';

const OWN = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
/** What Chromium says of the scripts by which these tests look into the example of the checkout: it runs none. */
const LOOKING_IN = /^Blocked script execution in '(about:blank|\S+\/appearance\/preview)/;
/** What is shown once, and never again. */
const SECRETS = /mps_[0-9a-f]{64}|whsec_/;

let browser: Browser;
let service: TestApp;
let origin: string;
let merchantId: string;
let partnerId: string;

beforeAll(async () => {
  browser = await launchBrowser();
  service = await startTestApp({
    env: {
      PANEL_URL: 'http://127.0.0.1:3000',
      PUBLIC_URL: 'http://127.0.0.1:3000',
      SIMULATION: 'on',
      PANEL_ADDRESS_DELAY_HOURS: '24',
    },
  });
  service.clock.now = Date.now();
  await service.app.listen({ host: '127.0.0.1', port: 0 });
  origin = `http://127.0.0.1:${(service.app.server.address() as AddressInfo).port}`;
  // Marked on each page, beside the mark of a service that simulates.
  const shop = await addMerchant(service, {
    ...{ name: 'Blue Coffee', environment: 'test', addresses: { 'eth-test': OWN } },
  });
  merchantId = shop.merchant.id;
  for (let index = 0; index < 30; index++) {
    await createPrompt(service, shop, {
      amount: 1000 + index,
      customerReferenceId: `order ${index}`,
    });
  }
  await observeTransfer(
    service.db,
    {
      ...{ blockchainId: 'eth-test', transactionHash: '0x1', position: 0, address: OWN },
      ...{ tokenAmount: 12_345n, blockHeight: null, blockHash: null },
      ...{ occurredAt: new Date(service.clock.now), source: 'simulation', finality: 'final' },
    },
    new Date(service.clock.now),
  );
  await addWebhooks(shop);
  const ada = await addMerchantUser(service, merchantId, 'admin');
  const { id: branchId } = await createBranch(operatorOf(service), {
    ...{ merchantId, name: 'Kiosk', main: false },
  });
  await addMerchantUser(service, merchantId, 'admin');
  const asAda = { ...operatorOf(service), personId: ada.personId };
  await requireSecondAdmin(asAda, merchantId);
  await proposeAddress(
    asAda,
    { kind: 'address.set', merchantId, branchId, blockchainId: 'eth-test', text: newAddress() },
    [],
    0,
  );
  // More than a page of a team, and of its activity; one with an invitation.
  for (let n = 0; n < 25; n++) await addMerchantUser(service, merchantId, 'member');
  const invited = await createUser(operatorOf(service), {
    ...{ merchantId, name: 'Grace', email: 'invited@example.com', role: 'member' },
  });
  await inviteUser(operatorOf(service), invited.id);
  const partner = await addPartner(service);
  partnerId = partner.partner.id;
  const linked = await addMerchant(service, { name: 'Linked', partnerId });
  await createPrompt(service, linked, { amount: 5000 });
  const paidAt = new Date(service.clock.now);
  await addPayment(service.db, linked.merchant, {
    ...{ created_at: paidAt, paid_at: paidAt, status: 'successful', session_status: 'completed' },
    ...{ amount: 123_456_789, commission_amount: 1_851_852 },
  });
  const explanation = {
    readable: true,
    findings: [{ component: 'query', made: 'the path without its query', remedy: 'Sign it.' }],
  };
  for (const { keyId } of [shop, partner]) {
    const target = `/external/v1/payments?customerReferenceId=${'x'.repeat(900)}`;
    await addRequest(service, { keyId, target });
    const wrong = { keyId, verified: false, errorCode: 'E2007', status: 401, requests: 7 };
    await addRequest(service, { ...wrong, target, explanation });
  }
});
afterAll(async () => {
  await service.close();
  await browser.close();
});

/** An endpoint that fails, with deliveries of each outcome, and one that is disabled. */
async function addWebhooks({ merchant }: MerchantWithKey): Promise<void> {
  const created_at = new Date(service.clock.now - 2 * 60 * 60_000);
  const payment = await addPayment(service.db, merchant, { created_at });
  const url = `http://127.0.0.1:1/hooks/${'x'.repeat(200)}`;
  const { endpoint } = await addEndpoint(service, merchant.id, url);
  const { endpoint: gone } = await addEndpoint(service, merchant.id);
  await disableEndpoint(operatorOf(service), gone.id, 'It answered 410 Gone.');
  const endpointId = endpoint.id;
  const response = { status_code: 500, response_excerpt: `${'y'.repeat(300)}\n<b>` };
  await addDelivery(service, payment, { endpointId, created_at, status: 'succeeded' });
  const log = [response, { error: 'self-signed certificate' }];
  await addDelivery(service, payment, { endpointId, created_at, log });
  await addDelivery(service, payment, { endpointId, created_at, status: 'pending', log });
}

/** A window in which somebody has signed in. */
async function windowFor(cookie: string, options = {}): Promise<BrowserContext> {
  const context = await browser.newContext(windowOf(options));
  const value = cookie.split('=')[1] ?? '';
  await context.addCookies([
    { name: 'mp_panel', value, url: origin, httpOnly: true, sameSite: 'Lax' },
  ]);
  return context;
}

/** Opens every page that links lead to from one, each shape of a path once. */
async function crawl(page: Page, start: string): Promise<string[]> {
  const wrong: string[] = [];
  page.on('console', message => {
    if (!LOOKING_IN.test(message.text())) wrong.push(message.text());
  });
  page.on('pageerror', error => wrong.push(error.message));
  page.on('request', request => {
    if (!request.url().startsWith(origin)) wrong.push(`asks ${request.url()}`);
  });
  const seen = new Set<string>();
  const waiting = [start];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const shape =
      path.split('?')[0]?.replaceAll(/[0-9a-f-]{36}|mpk_\w+|(?<=addresses\/)[\w-]+/g, 'ID') ?? path;
    if (seen.has(shape) || /\.(csv|json)/.test(path)) continue;
    seen.add(shape);
    let bytes = 0;
    const count = async (response: { body(): Promise<Buffer> }) => {
      bytes += (await response.body().catch(() => Buffer.alloc(0))).length;
    };
    page.on('response', count);
    const response = await page.goto(origin + path, { waitUntil: 'load' });
    page.off('response', count);
    expect(response?.status(), path).toBe(200);
    expect(bytes, path).toBeLessThan(100_000);
    expect(await page.content(), path).not.toMatch(SECRETS);
    await expectAccessible(page);
    const links = await page.$$eval('a[href^="/panel"]', anchors =>
      anchors.map(anchor => anchor.getAttribute('href') ?? ''),
    );
    waiting.push(...links);
  }
  expect(wrong).toEqual([]);
  return [...seen];
}

describe('every page that a role can reach is accessible, in light and dark, at 320 pixels', () => {
  test.each([
    ['admin', 31],
    ['owner', 17],
  ] as const)(
    '%s',
    async (role, least) => {
      const isMerchant = role === 'admin';
      const visitor = isMerchant
        ? await addMerchantUser(service, merchantId, role)
        : await addPartnerUser(service, partnerId, role);
      const context = await windowFor(visitor.cookie, { viewport: NARROW });
      const start = isMerchant ? `/panel/merchants/${merchantId}` : `/panel/partners/${partnerId}`;
      const pages = await crawl(await context.newPage(), start);
      expect(pages.length).toBeGreaterThanOrEqual(least);
      await context.close();
    },
    // Some 45 pages, each of them looked at twice by axe.
    240_000,
  );
});

test('a newcomer joins by an invitation, and signs in again with what they chose', async () => {
  const operator = operatorOf(service);
  const email = 'grace@example.com';
  const user = await createUser(operator, { merchantId, name: 'Grace', email, role: 'admin' });
  const { token } = await inviteUser(operator, user.id);
  const context = await browser.newContext(windowOf({ viewport: PHONE }));
  const page = await context.newPage();
  await page.goto(`${origin}/panel/join/${token}`);
  await expectAccessible(page);
  await page.fill('#password', 'short');
  const secret = await page.inputValue('[name=secret]');
  await page.fill('#code', codeAt(secret, service.clock.now));
  await page.click('main button');
  expect(await page.textContent('#password-fault')).toContain('at least 15');
  await expectAccessible(page);
  await page.fill('#password', PASSWORD);
  await page.fill('#code', codeAt(secret, service.clock.now));
  await page.click('main button');
  await page.click('text=I have kept them');
  expect(await page.textContent('h1')).toBe('Blue Coffee');
  await page.click('text=Sign out');
  await page.fill('#email', email);
  await page.fill('#password', PASSWORD);
  await page.click('main button');
  service.clock.now += 30_000;
  await page.fill('#code', codeAt(secret, service.clock.now));
  await expectAccessible(page);
  await page.click('main button');
  await page.goto(`${origin}/panel`);
  expect(await page.textContent('h1')).toBe('Blue Coffee');
  await context.close();
});

test.each([
  ['with the script', true],
  ['without it', false],
])('an address change, cancelled by the second admin on a phone, %s', async (_, script) => {
  const { merchant } = await addMerchant(service, {
    name: 'Corner',
    addresses: { 'eth-test': newAddress() },
  });
  const at = new Date(service.clock.now);
  await addPayment(service.db, merchant, {
    ...{ created_at: at, paid_at: at, status: 'successful', session_status: 'completed' },
  });
  const ada = await addMerchantUser(service, merchant.id, 'admin', { name: 'Ada' });
  const bob = await addMerchantUser(service, merchant.id, 'admin', { name: 'Bob' });
  const own = await windowFor(ada.cookie, { viewport: DESKTOP, javaScriptEnabled: script });
  const page = await own.newPage();
  await page.goto(`${origin}/panel/merchants/${merchant.id}/settings/addresses/eth-test`);
  const address = newAddress();
  await page.fill('#address', address);
  await page.click('text=Compare');
  expect(await page.textContent('.compare')).toContain(address.slice(0, 4));
  service.clock.now += 30_000;
  await page.fill('#code', codeAt(ada.secret, service.clock.now));
  await page.click('text=Propose this change');
  // axe is a script.
  if (script) await expectAccessible(page);
  expect(await page.textContent('main')).toContain('another admin can approve it');

  const others = await windowFor(bob.cookie, { viewport: PHONE, javaScriptEnabled: script });
  const phone = await others.newPage();
  await phone.goto(`${origin}/panel/merchants/${merchant.id}`);
  await phone.click('text=Look at it');
  if (script) await expectAccessible(phone);
  await phone.click('text=Cancel this change');
  expect(await phone.textContent('main')).toContain('It was cancelled. Nothing has changed.');
  await own.close();
  await others.close();
});

test.each([
  ['with the script', true],
  ['without it', false],
])(
  'an example of the checkout with what is typed, on which nothing works, %s',
  async (_, script) => {
    const { merchant } = await addMerchant(service, { name: 'Tea' });
    const ada = await addMerchantUser(service, merchant.id, 'admin');
    const context = await windowFor(ada.cookie, { viewport: DESKTOP, javaScriptEnabled: script });
    const page = await context.newPage();
    const problems: string[] = [];
    page.on('console', message => {
      if (!LOOKING_IN.test(message.text())) problems.push(message.text());
    });
    page.on('pageerror', error => problems.push(error.message));
    await page.goto(`${origin}/panel/merchants/${merchant.id}/settings/appearance`);
    const example = page.frameLocator('iframe.preview:visible');
    const logo = Buffer.from('UklGRhwAAABXRUJQVlA4TBAAAAAvB8ABAAdQwChg/wMR0f8A', 'base64');
    await page.setInputFiles('#logo', { name: 'logo.webp', mimeType: 'image/webp', buffer: logo });
    await page.fill('#accent', '#b91c1c');
    if (!script) await page.click('text=Paying');
    const wallet = example.locator('text=Open wallet');
    await example.locator('link[href$="/b91c1c.css"]').waitFor({ state: 'attached' });
    const colour = () =>
      wallet.evaluate(
        link => link.ownerDocument.defaultView?.getComputedStyle(link).backgroundColor,
      );
    await expect.poll(colour).toBe('rgb(185, 28, 28)');
    expect(await example.locator('img.logo').getAttribute('src')).toBe(
      `data:image/webp;base64,${logo.toString('base64')}`,
    );

    const requests: string[] = [];
    page.on('request', request => requests.push(request.url()));
    const places = [
      wallet,
      example.locator('nav.languages a').first(),
      example.locator('summary').first(),
    ];
    for (const place of places) {
      await place.scrollIntoViewIfNeeded();
      const box = await place.boundingBox();
      await page.mouse.click((box?.x ?? 0) + 5, (box?.y ?? 0) + 5);
    }
    expect(await example.locator('details[open]').count()).toBe(0);
    expect(requests).toEqual([]);

    if (script) {
      const steps = await page.evaluate('history.length');
      await page.fill('#accent', '#7c3aed');
      await expect.poll(colour).toBe('rgb(124, 58, 237)');
      expect(await page.evaluate('history.length')).toBe(steps);
      expect(await page.locator('iframe').count()).toBe(1);
    }
    await page.click('button:text-is("Paid")');
    await example.locator('.receipt').waitFor();
    expect(await page.inputValue('#accent')).toBe(script ? '#7c3aed' : '#b91c1c');
    await page.click('text=Save');
    expect(await page.inputValue('#accent')).toBe(script ? '#7c3aed' : '#b91c1c');
    expect(await page.locator('#removes-logo').count()).toBe(1);
    expect(problems).toEqual([]);
    await context.close();
  },
);

test.each([
  ['with the script', true],
  ['without it', false],
])(
  'demo link to a key, to a payment that is simulated, to a file, %s',
  async (_, javaScriptEnabled) => {
    const operator = operatorOf(service);
    const demo = await addPerson(service, { isDemo: true, name: 'Demo' });
    const user = await createUser(operator, {
      ...{ merchantId, name: 'Demo', email: `${randomUUID()}@example.com`, role: 'admin' },
    });
    await setPerson(service.db, 'merchant', user.id, entryOf(service, demo));
    const subject = { person_id: demo.personId, merchant_user_id: null, partner_member_id: null };
    const { token } = await makeLink(
      service.db,
      'demo',
      subject,
      'test',
      new Date(service.clock.now),
    );
    const context = await browser.newContext(windowOf({ viewport: DESKTOP, javaScriptEnabled }));
    const page = await context.newPage();
    await page.goto(`${origin}/panel/join/${token}`);
    await page.click('text=Open the demo');
    expect(await page.textContent('h1')).toBe('Blue Coffee');

    // A second factor that is long ago is asked for again: in the demo by a button.
    service.clock.now += 11 * 60_000;
    await page.click('nav.side >> text=API keys');
    await page.click('text=Create a key');
    expect(await page.textContent('h1')).toBe('Confirm that it is you');
    await page.click('main button');
    await page.fill('#name', 'shop server');
    await page.click('main button');
    const read = async (id: string) => (await page.textContent(`#${id}`)) ?? '';
    const key = {
      keyId: await read('key-id'),
      secret: await read('key-secret'),
      passphrase: await read('key-passphrase'),
    };
    const { prompt } = await createPrompt(service, key, { amount: 4200 });

    await page.goto(`${origin}/panel/merchants/${merchantId}/payments?search=${prompt.id}`);
    await page.click('table a');
    await page.selectOption('#case', 'confirm');
    await page.click('main button');
    expect(await page.textContent('.lead')).toContain('successful');
    expect(
      (await send(service, key, { path: `/external/v1/payments/${prompt.id}` })).json(),
    ).toMatchObject({ status: 'successful' });
    await page.goto(`${origin}/panel/merchants/${merchantId}/payments`);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.click('text=Download as CSV'),
    ]);
    expect(download.suggestedFilename()).toMatch(/^payments-[\d-]+\.csv$/);
    await context.close();
  },
);
