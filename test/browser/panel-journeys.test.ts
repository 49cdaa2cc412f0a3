import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { inviteUser } from '#accounts/people/invitations.ts';
import { createUser } from '#accounts/users.ts';
import { type Credentials, signingHeaders, verifyWebhook } from '#client/index.ts';
import { makeDemo } from '#runtime/development/demo.ts';
import { makeDemoLink } from '#runtime/development/demo-link.ts';
import { newAddress } from '../accounts/account-of-changes.ts';
import { addMerchant, addPartner, operatorOf } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { DESKTOP, launchBrowser, PHONE, windowOf } from '../helpers/browser.ts';
import { openCheckout } from '../helpers/checkout.ts';
import { addEndpoint } from '../helpers/deliveries.ts';
import { addRequest } from '../helpers/logged-requests.ts';
import { addMerchantUser, addPartnerUser, codeAt, PASSWORD } from '../helpers/panel.ts';
import { addPayment } from '../helpers/payments.ts';
import { createPrompt } from '../helpers/prompts.ts';
import { seeTransfer } from '../helpers/see-transfer.ts';
import { send } from '../helpers/signed-request.ts';
import { SOON } from '../helpers/soon.ts';
import { attemptDue } from '../payments/webhooks/attempt-due.ts';
import { type Receiver, startReceiver } from '../payments/webhooks/receiver.ts';
import { expectAccessible, type SeenKinds } from './accessible.ts';
import { signedInWindow } from './signed-in-window.ts';
import { expectSpanishOnPhone } from './spanish-phone.ts';

// What people use the panel for, from the first page to the last, as they would do it. Each step waits for the next
// page.

const LIST = '/external/v1/payments';
const DAY_MS = 24 * 60 * 60_000;

const seenKinds: SeenKinds = new Set();
let browser: Browser;
let service: TestApp;
let origin: string;
let receiver: Receiver;
/** The directory with the demo's keys. */
let demoDirectory: string;
const windows: BrowserContext[] = [];

beforeAll(async () => {
  const url = 'http://127.0.0.1:3000';
  const env = {
    PANEL_URL: url,
    PUBLIC_URL: url,
    SIMULATION: 'on',
    PANEL_ADDRESS_DELAY_HOURS: '24',
  };
  [browser, service, receiver, demoDirectory] = await Promise.all([
    launchBrowser(),
    startTestApp({ env }),
    startReceiver(),
    mkdtemp(join(tmpdir(), 'eps-journeys-')),
  ]);
  service.clock.now = Date.now();
  await service.app.listen({ host: '127.0.0.1', port: 0 });
  origin = `http://127.0.0.1:${(service.app.server.address() as AddressInfo).port}`;
  await makeDemo(demoDirectory, { ...operatorOf(service), ...service });
});
afterEach(async () => {
  // Sign-ins are limited by address, and all of these come from one.
  service.clock.now += 5 * 60_000;
  await Promise.all(windows.splice(0).map(each => each.close()));
});
afterAll(async () => {
  await Promise.all([service.close(), browser.close(), receiver.close()]);
  await rm(demoDirectory, { recursive: true });
});

/** Opens a page for somebody who has signed in, or for a newcomer. */
async function openFor(cookie: string | null, options?: BrowserContextOptions): Promise<Page> {
  const context =
    cookie === null
      ? await browser.newContext(windowOf(options))
      : await signedInWindow(browser, origin, cookie, options);
  windows.push(context);
  return context.newPage();
}

const titled = (page: Page, title: string) => page.waitForSelector(`h1:text-is("${title}")`);
const told = (page: Page, text: string) => page.waitForSelector(`main:has-text("${text}")`);

/** Clicks an entry of the menu, which a phone has behind a summary. */
async function choose(page: Page, entry: string): Promise<void> {
  const isPhone = page.viewportSize()?.width === PHONE.width;
  if (isPhone) await page.click('.contents summary');
  await page.click(`${isPhone ? '.contents' : 'nav.side'} a:text-is("${entry}")`);
}

const read = async (page: Page, id: string) => (await page.textContent(`#${id}`)) ?? '';
const readKey = async (page: Page): Promise<Credentials> => ({
  keyId: await read(page, 'key-id'),
  secret: await read(page, 'key-secret'),
  passphrase: await read(page, 'key-passphrase'),
});

/** Clicks a link that downloads a file. */
async function download(page: Page, link: string): Promise<string> {
  const [file] = await Promise.all([page.waitForEvent('download'), page.click(link)]);
  return file.suggestedFilename();
}

/** The code of an app's next period: each code is accepted once. */
function nextCode(secret: string): string {
  service.clock.now += 30_000;
  return codeAt(secret, service.clock.now);
}

const statusOf = async (key: Credentials, path = LIST) =>
  (await send(service, key, { path })).statusCode;

test.each([
  ['with the script', { viewport: DESKTOP }],
  ['without it, on a phone', { viewport: PHONE, javaScriptEnabled: false }],
])(
  'the printed demo link, a key, a payment, its webhooks, redelivered, and a file, %s',
  async (_, options) => {
    const path = await makeDemoLink(demoDirectory, { ...operatorOf(service), db: service.db });
    const page = await openFor(null, options);
    await page.goto(`${origin}${path}`);
    await page.click('text=Open the demo');
    await titled(page, 'Demo Shop');

    // An old second factor is required again, and nothing typed again: in the demo by a button.
    service.clock.now += 11 * 60_000;
    await choose(page, 'API keys');
    await page.click('text=Create a key');
    await page.fill('#name', 'shop server');
    await page.click('main button');
    await titled(page, 'Confirm that it is you');
    await page.click('main button');
    const key = await readKey(page);
    await page.click('text=I have kept them');
    await choose(page, 'Webhooks');
    await page.click('text=Add an endpoint');
    // The endpoint of the other run gets the events too.
    const own = `width=${options.viewport.width}`;
    await page.fill('#url', `${receiver.url}&${own}`);
    await page.click('main button');
    const secret = await read(page, 'webhook-secret');

    const { prompt } = await createPrompt(service, key, { amount: 4200 });
    await choose(page, 'Payments');
    await page.fill('#search', prompt.id);
    await page.click('form.filters button');
    await page.click('tbody tr:only-child a');
    await page.selectOption('#case', 'confirm');
    await page.click('main form:has(#case) button');
    await page.waitForSelector('.lead:has-text("successful")');
    const paid = await send(service, key, { path: `${LIST}/${prompt.id}` });
    expect(paid.json()).toMatchObject({ status: 'successful' });

    const deliver = async () => {
      await attemptDue({ ...service, allowPrivateAddresses: true });
      return receiver.requests.filter(request => request.path.endsWith(own));
    };
    const delivered = await deliver();
    const events = delivered.map(request =>
      verifyWebhook({ ...request, secret, now: service.clock }),
    );
    const types = events.map(({ type }) => type);
    expect(types[0]).toBe('payment_prompt.created');
    expect(types.at(-1)).toBe('payment_prompt.successful');
    await choose(page, 'Webhooks');
    await page.click(`table a:has-text("${own}")`);
    await page.click('tbody tr:has-text("payment_prompt.successful") a');
    await page.click('button:text-is("Redeliver")');
    await page.waitForSelector('dt:text-is("Repeats")');
    const redelivered = await deliver();
    expect(redelivered).toHaveLength(delivered.length + 1);
    expect(redelivered.at(-1)?.body).toBe(delivered.at(-1)?.body);
    await page.reload();
    await page.waitForSelector('.lead:has-text("succeeded")');

    await choose(page, 'Payments');
    expect(await download(page, 'text=Download as CSV')).toMatch(/^payments-[\d-]+\.csv$/);
  },
);

test('an invitation, signing in with a code and a recovery code, and a new app', async () => {
  const { merchant } = await addMerchant(service, { name: 'Blue Coffee' });
  const email = 'grace@example.com';
  const user = await createUser(operatorOf(service), {
    merchantId: merchant.id,
    name: 'Grace',
    email,
    role: 'admin',
  });
  const { token } = await inviteUser(operatorOf(service), user.id);
  const submitCode = async (page: Page, code: string) => {
    await page.fill('#code', code);
    await page.click('main button:not([type])');
  };
  const join = async (page: Page, password: string) => {
    await page.goto(`${origin}/panel/join/${token}`);
    await page.fill('#password', password);
    const secret = await page.inputValue('[name=secret]');
    await submitCode(page, codeAt(secret, service.clock.now));
    return secret;
  };
  const signIn = async (page: Page, code: () => string) => {
    await page.fill('#email', email);
    await page.fill('#password', PASSWORD);
    await page.click('main button');
    await titled(page, 'Enter your code');
    await submitCode(page, code());
    await titled(page, 'Blue Coffee');
  };
  const page = await openFor(null, { viewport: PHONE });
  await join(page, 'short');
  await page.waitForSelector('#password-fault:has-text("at least 15")');
  await expectAccessible(page, seenKinds);
  await page.click('text=Type the key');
  await page.click('[data-copy=app-key]');
  await page.waitForSelector('[data-copy=app-key]:has-text("Copied")');
  const copied = await page.evaluate('navigator.clipboard.readText()');
  expect(copied).toBe(await page.inputValue('[name=secret]'));
  const plain = await openFor(null, { viewport: PHONE, javaScriptEnabled: false });
  const secret = await join(plain, PASSWORD);
  const [first = '', second = ''] = (await read(plain, 'recovery-codes')).split('\n');
  await plain.click('text=I have kept them');
  await titled(plain, 'Blue Coffee');
  await plain.click('text=Sign out');
  await signIn(plain, () => nextCode(secret));

  // The phone is lost: two recovery codes lead to a new app.
  await page.goto(`${origin}/panel/sign-in`);
  await signIn(page, () => first);
  await page.click('text=Profile');
  await page.click('text=Change authenticator app');
  const newSecret = await page.inputValue('[name=secret]');
  await page.fill('#new-code', codeAt(newSecret, service.clock.now));
  await page.fill('#password', PASSWORD);
  await submitCode(page, second);
  expect((await read(page, 'recovery-codes')).split('\n')).toHaveLength(8);
  await expectAccessible(page, seenKinds);
  await page.click('text=I have kept them');
  await page.click('text=Sign out');
  await signIn(page, () => nextCode(newSecret));
});

test.each([
  ['with the script', true],
  ['without it', false],
])('an address change, cancelled by the second admin on a phone, %s', async (_, script) => {
  const check = async (page: Page) => script && (await expectAccessible(page, seenKinds));
  const addresses = { 'eth-test': newAddress() };
  const { merchant } = await addMerchant(service, { name: 'Corner', addresses });
  const at = new Date(service.clock.now);
  await addPayment(service.db, merchant, {
    created_at: at,
    paid_at: at,
    status: 'successful',
    session_status: 'completed',
  });
  const ada = await addMerchantUser(service, merchant.id, 'admin', { name: 'Ada' });
  const bob = await addMerchantUser(service, merchant.id, 'admin', { name: 'Bob' });
  const page = await openFor(ada.cookie, { viewport: DESKTOP, javaScriptEnabled: script });
  await page.goto(`${origin}/panel/merchants/${merchant.id}/settings/addresses/eth-test`);
  const address = newAddress();
  await page.fill('#address', address);
  await page.click('text=Compare');
  await page.waitForSelector(`.compare:has-text("${address.slice(0, 4)}")`);
  await page.fill('#code', nextCode(ada.secret));
  await page.click('text=Propose this change');
  await told(page, 'another admin can approve it');
  await check(page);

  const phone = await openFor(bob.cookie, { viewport: PHONE, javaScriptEnabled: script });
  await phone.goto(`${origin}/panel/merchants/${merchant.id}`);
  await phone.click('text=Look at it');
  await titled(phone, 'Replace the deposit address');
  await check(phone);
  await phone.click('text=Cancel this change');
  await told(phone, 'It was cancelled. Nothing has changed.');
});

test('in Spanish on a phone: joining, setting up, a deposit to assign, an endpoint switched off', async () => {
  const shop = await addMerchant(service, { name: 'Café Azul', addresses: {} });
  const { id: merchantId } = shop.merchant;
  const { endpoint } = await addEndpoint(service, merchantId);
  const user = await createUser(operatorOf(service), {
    merchantId,
    name: 'Luz',
    email: 'luz@example.com',
    role: 'admin',
  });
  const { token } = await inviteUser(operatorOf(service), user.id);
  const page = await openFor(null, { viewport: PHONE, hasTouch: true, locale: 'es-ES' });
  const look = async (title: string) => {
    await titled(page, title);
    await expectSpanishOnPhone(page);
  };
  const press = (button: string) => page.tap(`main button:text-is("${button}")`);

  await page.goto(`${origin}/panel/join/${token}`);
  await look('Unirse a Café Azul');
  await page.fill('#password', PASSWORD);
  const secret = await page.inputValue('[name=secret]');
  await page.fill('#code', codeAt(secret, service.clock.now));
  await press('Unirse');
  await look('Guarde sus códigos de recuperación');
  await page.tap('text=Ya están guardados');
  await look('Café Azul');

  const address = newAddress();
  await choose(page, 'Direcciones');
  await look('Direcciones de depósito');
  await page.tap('a[href$="/addresses/eth-test"]');
  await look('Direcciones para ETH en Ethereum Sepolia');
  await page.fill('#address', address);
  await press('Comparar');
  await look('Nueva dirección para ETH en Ethereum Sepolia');
  await page.fill('#code', nextCode(secret));
  await press('Cambiar ahora');
  await told(page, `van ahora a ${address}`);
  await expectSpanishOnPhone(page);

  // What was typed is done once the second factor is given again.
  service.clock.now += 11 * 60_000;
  await choose(page, 'Dominios');
  await look('Dominios');
  await page.fill('#domain', 'cafe.example.com');
  await press('Agregar');
  await look('Confirme que es usted');
  await page.fill('#confirmation-code', nextCode(secret));
  await press('Confirmar');
  await told(page, 'Agregado: se puede llevar de vuelta a los clientes a cafe.example.com.');

  // What arrives could be for either payment.
  const other = await openCheckout(service, shop, { amount: 9000 });
  const checkout = await openCheckout(service, shop, { customerReferenceId: 'Mesa 7' });
  for (const each of [other, checkout]) await each.pick('eth-test');
  const due = BigInt((await checkout.payment()).token_amount ?? 0);
  await seeTransfer(service, checkout, null, {
    tokenAmount: due + due / 100n + 7n,
    source: 'simulation',
    finality: 'final',
  });
  await choose(page, 'Pagos');
  await look('Pagos');
  await page.tap('tbody tr:has-text("Mesa 7") a');
  await look('$50.00');
  await choose(page, 'Sin asignar');
  await look('Depósitos sin asignar');
  await page.tap('tbody a');
  await page.waitForSelector('li:has-text("Mesa 7") .tag:text-is("el más adecuado")');
  await expectSpanishOnPhone(page);
  await press('Asignar');
  await look('¿Asignar este depósito a $50.00, Mesa 7?');
  await press('Asignar');
  await told(page, 'Asignado a $50.00, Mesa 7.');

  await choose(page, 'Webhooks');
  await look('Webhooks');
  await page.tap(`table a[href$="${endpoint.id}"]`);
  await look('http://127.0.0.1:1');
  await press('Desactivar este endpoint');
  await look('¿Desactivar http://127.0.0.1:1?');
  await press('Desactivar este endpoint');
  await told(page, 'Lo desactivó Luz.');
  await expectSpanishOnPhone(page);
  await press('Deshacer');
  await page.waitForSelector('.lead:has-text("activo")');
});

test('a key is rotated with grace: both pairs work for a day', async () => {
  const shop = await addMerchant(service, { name: 'Blue Coffee' });
  const ada = await addMerchantUser(service, shop.merchant.id, 'admin');
  const page = await openFor(ada.cookie, { viewport: DESKTOP });
  await page.goto(`${origin}/panel/merchants/${shop.merchant.id}`);
  await choose(page, 'API keys');
  await page.click('table a');
  await page.click('text=Rotate with grace');
  await titled(page, 'Rotate Test key?');
  await page.click('text=Rotate with grace');
  const rotated = await readKey(page);
  expect(rotated.keyId).toBe(shop.keyId);
  expect([await statusOf(shop), await statusOf(rotated)]).toEqual([200, 200]);
  service.clock.now += DAY_MS + 1;
  expect([await statusOf(shop), await statusOf(rotated)]).toEqual([401, 200]);
});

test('the times of a log keep their seconds in the zone of the reader', async () => {
  const { merchant, keyId } = await addMerchant(service);
  await addRequest(service, { keyId, at: new Date('2026-05-17T11:58:07.250Z') });
  const bob = await addMerchantUser(service, merchant.id, 'member');
  const page = await openFor(bob.cookie, { timezoneId: 'Europe/Madrid', locale: 'en-GB' });
  await page.goto(`${origin}/panel/merchants/${merchant.id}/settings/developer/requests`);
  await page.waitForSelector('table a:has-text("17 May 2026, 13:58:07")');
  await page.click('table a');
  await page.waitForSelector('dd:has-text("17 May 2026, 13:58:07 CEST")');
});

test('a wrong signature is found in the request log, with what it was made with', async () => {
  const shop = await addMerchant(service, { name: 'Blue Coffee' });
  // It writes its records when it stops.
  const replica = await startTestApp({ beside: service });
  const headers = signingHeaders(shop, { method: 'GET', path: LIST, now: service.clock.now });
  const { statusCode } = await send(replica, shop, {
    path: `${LIST}?limit=1`,
    headers: { ...headers },
  });
  await replica.close();
  // It does not wait long for that.
  const rows = service.db.selectFrom('request_log').where('key_id', '=', shop.keyId).selectAll();
  await vi.waitUntil(async () => (await rows.execute()).length > 0, SOON);
  expect(statusCode).toBe(401);
  const bob = await addMerchantUser(service, shop.merchant.id, 'member');
  const page = await openFor(bob.cookie, { viewport: PHONE, javaScriptEnabled: false });
  await page.goto(`${origin}/panel/merchants/${shop.merchant.id}`);
  await choose(page, 'Request log');
  await page.selectOption('#code', 'E2007');
  await page.click('form.filters button');
  await page.click('table a');
  await told(page, `${LIST}?limit=1`);
  await told(page, 'It was made with the path without its query.');
});

test('a developer makes a key, which the owner of the partner finds and revokes', async () => {
  const { partner } = await addPartner(service);
  const linked = await addMerchant(service, { name: 'Linked Shop', partnerId: partner.id });
  await createPrompt(service, linked, { amount: 5000 });
  const start = `${origin}/panel/partners/${partner.id}`;
  const dev = await addPartnerUser(service, partner.id, 'developer', { name: 'Dev' });
  const developer = await openFor(dev.cookie, { viewport: PHONE });
  await developer.goto(start);
  await titled(developer, 'Partner');
  expect(await developer.textContent('body')).not.toContain('Linked Shop');
  await choose(developer, 'API keys');
  await developer.click('text=Create a key');
  await developer.fill('#name', 'reports of Dev');
  await developer.click('main button');
  const key = await readKey(developer);
  expect(await statusOf(key, '/external/partner/overview')).toBe(200);
  expect(await statusOf(key, '/external/partner/merchants')).toBe(403);

  const olga = await addPartnerUser(service, partner.id, 'owner', { name: 'Olga' });
  const owner = await openFor(olga.cookie, { viewport: DESKTOP });
  await owner.goto(start);
  await choose(owner, 'Merchants');
  await owner.click('table >> text=Linked Shop');
  await owner.click('text=All of its payments');
  await owner.waitForSelector('table:has-text("$50.00")');
  expect(await download(owner, 'text=Download as CSV')).toMatch(/^payments-[\d-]+\.csv$/);
  await choose(owner, 'API keys');
  await owner.click('table >> text=reports of Dev');
  await owner.fill('#name', 'reports of Dev');
  await owner.click('button.danger:text-is("Revoke")');
  await owner.waitForSelector('.tag:text-is("revoked")');
  expect(await statusOf(key, '/external/partner/overview')).toBe(401);
  await developer.goto(`${start}/developer/keys`);
  await developer.waitForSelector('table .tag:text-is("revoked")');
});
