import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { proposeAddress, requireSecondAdmin } from '#accounts/address-changes.ts';
import { createBranch } from '#accounts/branches.ts';
import { inviteUser } from '#accounts/people/invitations.ts';
import { createUser } from '#accounts/users.ts';
import { observeTransfer } from '#onchain/settlement/observe-transfer.ts';
import { disableEndpoint } from '#payments/webhooks/change-endpoint.ts';
import { newAddress } from '../accounts/account-of-changes.ts';
import { addMerchant, addPartner, type MerchantWithKey, operatorOf } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { DESKTOP, launchBrowser, NARROW } from '../helpers/browser.ts';
import { addDelivery, addEndpoint } from '../helpers/deliveries.ts';
import { addRequest } from '../helpers/logged-requests.ts';
import {
  addMerchantUser,
  addPartnerUser,
  addSession,
  PASSWORD,
  type Visitor,
} from '../helpers/panel.ts';
import { addPayment } from '../helpers/payments.ts';
import { createPrompt } from '../helpers/prompts.ts';
import { simulate } from '../helpers/simulate.ts';
import { expectAccessible, type SeenKinds } from './accessible.ts';
import { setSession, signedInWindow } from './signed-in-window.ts';

const OWN = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
/**
 * Chromium's message about the scripts with which these tests inspect the checkout's preview, which runs no scripts.
 */
const LOOKING_IN = /^Blocked script execution in '(about:blank|\S+\/appearance\/preview)/;
/** Secrets that are shown only once. */
const SECRETS = /mps_[0-9a-f]{64}|whsec_/;

const seenKinds: SeenKinds = new Set();
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
  // Marked on each page, next to the mark of a service that simulates.
  const shop = await addMerchant(service, {
    name: 'Blue Coffee',
    environment: 'test',
    addresses: { 'eth-test': OWN },
  });
  merchantId = shop.merchant.id;
  for (let index = 0; index < 30; index++) {
    await createPrompt(service, shop, {
      amount: 1000 + index,
      customerReferenceId: `order ${index}`,
    });
  }
  // The newest payment has ended with a part paid.
  const { prompt } = await createPrompt(service, shop, { amount: 5000 });
  for (const step of ['under', 'expire'] as const) {
    await simulate(service, prompt.id, step, new Date(service.clock.now), 'eth-test');
  }
  await observeTransfer(
    service.db,
    {
      blockchainId: 'eth-test',
      transactionHash: '0x1',
      position: 0,
      address: OWN,
      tokenAmount: 12_345n,
      blockHeight: null,
      blockHash: null,
      occurredAt: new Date(service.clock.now),
      source: 'simulation',
      finality: 'final',
    },
    new Date(service.clock.now),
  );
  await addWebhooks(shop);
  const ada = await addMerchantUser(service, merchantId, 'admin');
  const { id: branchId } = await createBranch(operatorOf(service), {
    merchantId,
    name: 'Kiosk',
    main: false,
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
  // More than one page of team members and of activity; one member with an invitation.
  for (let n = 0; n < 25; n++) await addMerchantUser(service, merchantId, 'member');
  const invited = await createUser(operatorOf(service), {
    merchantId,
    name: 'Grace',
    email: 'invited@example.com',
    role: 'member',
  });
  await inviteUser(operatorOf(service), invited.id);
  const partner = await addPartner(service);
  partnerId = partner.partner.id;
  const linked = await addMerchant(service, { name: 'Linked', partnerId });
  await createPrompt(service, linked, { amount: 5000 });
  const paidAt = new Date(service.clock.now);
  await addPayment(service.db, linked.merchant, {
    created_at: paidAt,
    paid_at: paidAt,
    status: 'successful',
    session_status: 'completed',
    amount: 123_456_789,
    commission_amount: 1_851_852,
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
  await disableEndpoint(operatorOf(service), gone.id, 'answered-gone');
  const endpointId = endpoint.id;
  const response = { status_code: 500, response_excerpt: `${'y'.repeat(300)}\n<b>` };
  await addDelivery(service, payment, { endpointId, created_at, status: 'succeeded' });
  const log = [response, { error: 'self-signed certificate' }];
  await addDelivery(service, payment, { endpointId, created_at, log });
  await addDelivery(service, payment, { endpointId, created_at, status: 'pending', log });
}

const windowFor = (cookie: string, options: BrowserContextOptions = {}) =>
  signedInWindow(browser, origin, cookie, options);

/** A form, and the page that has it. */
interface FoundForm {
  readonly path: string;
  readonly action: string;
}

/** A path without the IDs of objects. */
function shapeOf(path: string): string {
  const ids = /[0-9a-f-]{36}|mpk_\w+|(?<=addresses\/)[\w-]+/g;
  return path.split('?')[0]?.replaceAll(ids, 'ID') ?? path;
}

/** Opens every page that can be reached by links, each shape of a path once, and collects the forms, likewise. */
async function crawl(
  page: Page,
  start: string,
): Promise<{ readonly pages: number; readonly forms: readonly FoundForm[] }> {
  const wrong: string[] = [];
  page.on('console', message => {
    if (!LOOKING_IN.test(message.text())) wrong.push(message.text());
  });
  page.on('pageerror', error => wrong.push(error.message));
  page.on('request', request => {
    if (!request.url().startsWith(origin)) wrong.push(`asks ${request.url()}`);
  });
  const seen = new Set<string>();
  const forms = new Map<string, FoundForm>();
  const waiting = [start];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const shape = shapeOf(path);
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
    await expectAccessible(page, seenKinds);
    const sticksOut = await page.$$eval('main :is(dd, dt, p, li, figcaption)', boxes =>
      boxes.filter(box => box.scrollWidth > box.clientWidth).map(box => box.outerHTML),
    );
    expect(sticksOut, path).toEqual([]);
    const links = await page.$$eval('a[href^="/panel"]', anchors =>
      anchors.map(anchor => anchor.getAttribute('href') ?? ''),
    );
    waiting.push(...links);
    const actions = await page.$$eval('main form', found =>
      found.map(form => form.getAttribute('action') ?? ''),
    );
    for (const action of actions) {
      if (!forms.has(shapeOf(action))) forms.set(shapeOf(action), { path, action });
    }
  }
  expect(wrong).toEqual([]);
  return { pages: seen.size, forms: [...forms.values()] };
}

/** Forms after which others of their page no longer work. */
const LAST = /\/(cancel|disable|dismiss|assign|remove|simulate)$/;
/** What is typed into required fields, by their type; invalid values where possible. */
const TYPED: Readonly<Record<string, string>> = {
  email: 'new@example.com',
  url: 'https://shop.example.com/hooks',
  date: '2030-01-01',
  password: PASSWORD,
};

/** Expects the field that a form was refused for to have the colour of the refusal; @returns whether there is one. */
async function expectMarkedField(page: Page): Promise<boolean> {
  if ((await page.locator('[aria-invalid="true"]').count()) === 0) return false;
  const styleOf = (selector: string, property: 'color' | 'borderColor') =>
    page
      .locator(selector)
      .first()
      .evaluate(
        (element, name) => element.ownerDocument.defaultView?.getComputedStyle(element)[name],
        property,
      );
  const colour = await styleOf('.fault-summary a', 'color');
  expect(colour).not.toBe(await styleOf('main', 'color'));
  expect(await styleOf('.fault', 'color')).toBe(colour);
  expect(await styleOf('[aria-invalid="true"]', 'borderColor')).toBe(colour);
  return true;
}

/**
 * Sends each form once, with all required fields filled in.
 * @returns How many were refused for a field.
 */
async function sendEach(
  page: Page,
  visitor: Visitor,
  forms: readonly FoundForm[],
): Promise<number> {
  let refused = 0;
  const order = [...forms].sort(
    (a, b) => Number(LAST.test(a.action)) - Number(LAST.test(b.action)),
  );
  for (const { path, action } of order) {
    // A few wrong codes end a session.
    await setSession(page.context(), origin, await addSession(service, visitor));
    await page.goto(origin + path, { waitUntil: 'domcontentloaded' });
    const form = page.locator(`main form[action="${action}"]`).first();
    for (const summary of await form.locator('summary').all()) await summary.click();
    for (const field of await form.locator('input[required]').all()) {
      const typed = TYPED[(await field.getAttribute('type')) ?? ''] ?? 'x';
      if ((await field.inputValue()) === '') await field.fill(typed);
    }
    const [response] = await Promise.all([
      page.waitForResponse(each => each.request().isNavigationRequest()),
      form.locator('button:not([formaction]):not([type=button])').first().click(),
    ]).catch(error => {
      throw new Error(`${action} on ${path} was not sent`, { cause: error });
    });
    expect([200, 303, 422], `${response.status()} for ${action}`).toContain(response.status());
    expect(response.headers().location ?? '', action).not.toMatch(/\/(confirm|sign-in)/);
    await page.waitForLoadState('load');
    if (await expectMarkedField(page)) refused += 1;
  }
  return refused;
}

describe('every page that a role can reach is accessible, and its forms work without the script', () => {
  test.each([
    ['admin', 31, 25, 12],
    ['owner', 17, 10, 7],
  ] as const)(
    '%s',
    async (role, leastPages, leastForms, leastRefused) => {
      const isMerchant = role === 'admin';
      const visitor = isMerchant
        ? await addMerchantUser(service, merchantId, role)
        : await addPartnerUser(service, partnerId, role);
      const context = await windowFor(visitor.cookie, { viewport: NARROW });
      const start = isMerchant ? `/panel/merchants/${merchantId}` : `/panel/partners/${partnerId}`;
      const { pages, forms } = await crawl(await context.newPage(), start);
      expect(pages).toBeGreaterThanOrEqual(leastPages);
      expect(forms.length).toBeGreaterThanOrEqual(leastForms);
      await context.close();
      const plain = await windowFor(visitor.cookie, { javaScriptEnabled: false });
      const refused = await sendEach(await plain.newPage(), visitor, forms);
      expect(refused).toBeGreaterThanOrEqual(leastRefused);
      await plain.close();
    },
    // Some 45 pages, each checked twice by axe, and as many forms.
    240_000,
  );
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
    const picker = page.locator('[name="accent-picked"]');
    await page.fill('#accent', '#b91c1c');
    expect(await picker.inputValue()).toBe(script ? '#b91c1c' : '#0f766e');
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
      await picker.fill('#7c3aed');
      expect(await page.inputValue('#accent')).toBe('#7c3aed');
      await expect.poll(colour).toBe('rgb(124, 58, 237)');
      expect(await page.evaluate('history.length')).toBe(steps);
      expect(await page.locator('iframe').count()).toBe(1);
    }
    await page.click('button:text-is("Paid")');
    await example.locator('.receipt').waitFor();
    expect(await page.inputValue('#accent')).toBe(script ? '#7c3aed' : '#b91c1c');
    await page.click('text=Save');
    expect(await page.inputValue('#accent')).toBe(script ? '#7c3aed' : '#b91c1c');
    await page.locator('#removes-logo').waitFor({ state: 'attached' });
    expect(problems).toEqual([]);
    await context.close();
  },
);
