import { randomBytes } from 'node:crypto';
import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setNetwork } from '#accounts/networks.ts';
import { expirePayments } from '#onchain/settlement/expire-on-chain.ts';
import { lapseQuotes } from '#onchain/settlement/lapse-quotes.ts';
import {
  ADDRESSES,
  addMerchant,
  type MerchantWithKey,
  operatorOf,
} from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { type OpenedCheckout, openCheckout } from '../../helpers/checkout.ts';
import { createPrompt } from '../../helpers/prompts.ts';
import { expectRefusal } from '../../helpers/refusal.ts';
import { addOlderMerchant, ask, BODY } from '../legacy/older-contract.ts';

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";
const RETURN = 'https://shop.example/thanks?order=7#top';

let service: TestApp;
let shop: MerchantWithKey;

beforeAll(async () => {
  service = await startTestApp();
  shop = await addMerchant(service, { name: 'Tea & Sons', domains: ['shop.example'] });
});

afterAll(() => service?.close());

/** A checkout at its own address, where nothing is ambiguous. */
async function openAlone(): Promise<OpenedCheckout> {
  const eth = `0x${randomBytes(20).toString('hex')}`;
  return openCheckout(service, await addMerchant(service, { addresses: { eth } }));
}

const open = (body: Record<string, unknown> = {}) => openCheckout(service, shop, body);

/** Expects a page of the usual kind, and returns its text. */
function expectPage(response: LightMyRequestResponse, status: number): string {
  expect(response.statusCode, response.body).toBe(status);
  expect(response.headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': POLICY,
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-robots-tag': 'noindex',
  });
  const { body } = response;
  expect(body).toMatch(/^<!doctype html>\n<html lang="[a-z]{2}" dir="(ltr|rtl)">/);
  expect(body).toMatch(/<title>[^<]+<\/title>/);
  expect(body.match(/<h1 /g)).toHaveLength(1);
  // Nothing that the policy would block, and nothing that redirects by itself.
  expect(body).not.toMatch(/<style|style=|<script(?! type="module" src="\/checkout\/)|javascript:/);
  expect(body).not.toMatch(/ on\w+=|undefined|\[object|\bNaN\b/);
  return body;
}

async function readPage(checkout: OpenedCheckout, url?: string): Promise<string> {
  return expectPage(await checkout.get(url), 200);
}

async function readStage(checkout: OpenedCheckout): Promise<string> {
  const response = await checkout.get(`${checkout.path}/status`);
  expect(response.statusCode).toBe(200);
  return response.json().stage;
}

describe('every state has its page', () => {
  test('choose: who is paid, how much, and the networks', async () => {
    const checkout = await open();
    const page = await readPage(checkout);
    expect(page).toContain('<title>Pay $50.00 to Tea &amp; Sons</title>');
    expect(page).toContain('Choose how to pay');
    expect(page).toContain('name="network" value="btc">');
    expect(page).toContain('name="network" value="eth">');
    expect(page).not.toContain('value="eth-usdc"');
    expect(page).not.toContain('service fee');
    expect(await readStage(checkout)).toBe('choose');
  });

  test('choose: a network without a price is shown, but cannot be chosen', async () => {
    service.rates.switchOff('BTC');
    const page = await readPage(await open());
    service.rates.switchOn('BTC');
    expect(page).toContain('name="network" value="btc" disabled>');
    expect(page).toContain('<span class="hint">not available just now</span>');
    expect(page).toContain('name="network" value="eth">');
  });

  test('choose: if no network is left, it says so', async () => {
    const checkout = await open({ blockchainIds: ['btc'] });
    await setNetwork(operatorOf(service), 'btc', { active: false });
    const page = await readPage(checkout);
    await setNetwork(operatorOf(service), 'btc', { active: true });
    expect(page).toContain('There is no way to pay just now');
  });

  test('waiting: address, exact amount, network, QR code and wallet link', async () => {
    const checkout = await open();
    await checkout.pick('eth');
    const { token_amount: units } = await checkout.payment();
    const page = await readPage(checkout);
    const amount = page.match(/id="copy-amount" data-copy="([\d.]+)"/)?.[1];
    expect(amount).toMatch(/^0\.0125/);
    expect(page).toContain(`<title>Send ${amount}\u00a0ETH · Tea &amp; Sons</title>`);
    expect(page).toContain(`href="ethereum:${ADDRESSES.eth}@1?value=${units}"`);
    expect(page).toContain(`id="copy-address" data-copy="${ADDRESSES.eth}"`);
    expect(page).toMatch(/<svg class="qr" role="img" aria-label="QR code of address and amount"/);
    expect(page).toContain('on <strong>Ethereum Mainnet</strong>, in one transfer');
    expect(page).toMatch(
      /Pay before <time datetime="[\dT:.-]+Z" data-time>\d+:\d\d [AP]M UTC<\/time>/,
    );
    expect(await readStage(checkout)).toBe('waiting');
  });

  test('waiting: another way to pay warns payers who have already sent something', async () => {
    const checkout = await open();
    expect(await readPage(checkout)).not.toContain('Pay another way');
    await checkout.pick('eth');
    expect(await readPage(checkout)).toMatch(
      /Pay another way<\/summary>\s*<p>Do not change if you have sent something to the address above already: it would not be recognised any more\.<\/p>\s*<p>Choosing fixes the price[^<]*<\/p>\s*<div class="picker">\s*<form/,
    );
  });

  test('waiting on a network that has been switched off since', async () => {
    const checkout = await open();
    await checkout.pick('eth');
    await setNetwork(operatorOf(service), 'eth', { active: false });
    const page = await readPage(checkout);
    await setNetwork(operatorOf(service), 'eth', { active: true });
    expect(page).toContain('on Ethereum Mainnet');
  });

  test('choose, again: the price of an older prompt is held for the window of its network', async () => {
    const older = await addOlderMerchant(service, { name: 'Old' });
    const start = service.clock.now;
    const { prompt, checkoutUrl } = (await ask(service, older, { body: BODY })).json();
    const { pathname: path } = new URL(checkoutUrl);
    const get = async () => expectPage(await service.app.inject({ url: path }), 200);
    const payload = 'network=btc';
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    await service.app.inject({ method: 'POST', url: `${path}/network`, headers, payload });
    const held = await get();
    const untilThen = new Date(start + 60 * 60_000).toISOString();
    expect(held).toContain(`data-countdown="${untilThen}"`);
    expect(held).toContain(ADDRESSES.btc);
    try {
      service.clock.now += 60 * 60_000;
      // The worker may run later.
      for (const work of [
        () => undefined,
        () => lapseQuotes(service.db, new Date(service.clock()), 100),
      ]) {
        await work();
        const page = await get();
        expect(page).toContain('The price that was held for you has lapsed.');
        expect(page).toContain(`data-countdown="${prompt.expiresAt}"`);
        expect(page).toContain('name="network" value="btc">');
        expect(page).not.toContain(ADDRESSES.btc);
        expect(page).not.toContain('Look up');
      }
    } finally {
      service.clock.now = start;
    }
  });

  test('waiting, with an underpayment', async () => {
    const checkout = await openAlone();
    await checkout.pick('eth');
    await checkout.simulate('under');
    expect(await readPage(checkout)).toContain('Too little has arrived.');
    expect(await readStage(checkout)).toBe('waiting');
  });

  test('waiting again after a reorganisation', async () => {
    const checkout = await open();
    await checkout.pick('eth');
    await checkout.simulate('reorg');
    expect(await readPage(checkout)).toContain('Ethereum Mainnet has undone your transfer.');
  });

  test('confirming: seen, with the transaction, and no way to cancel', async () => {
    const checkout = await open({ redirectUrl: RETURN });
    await checkout.pick('eth');
    await checkout.simulate('detect');
    const { transaction_hash: hash } = await checkout.payment();
    const page = await readPage(checkout);
    expect(page).toContain('Payment seen');
    expect(page).toContain(hash);
    expect(page).not.toContain('id="cancel"');
    expect(page).not.toContain('class="networks"');
    expect(page).not.toContain('data-automatic');
    expect(await readStage(checkout)).toBe('confirming');
  });

  test('paid: a receipt and the way back', async () => {
    const checkout = await open({ redirectUrl: RETURN });
    await checkout.pick('eth');
    await checkout.simulate('confirm');
    const page = await readPage(checkout);
    expect(page).toContain('<title>Paid · Tea &amp; Sons</title>');
    expect(page).toMatch(/May 17, 2026, \d+:\d\d\s[AP]M UTC/);
    expect(page).toContain(
      `id="return" href="https://shop.example/thanks?order=7&amp;promptId=${checkout.paymentId}&amp;status=successful#top" rel="noreferrer" data-automatic>`,
    );
    expect(page).toContain('data-final');
    expect(page).not.toContain('id="look-up"');
    expect(await readStage(checkout)).toBe('paid');
  });

  test('paid without a redirectUrl has no way back', async () => {
    const checkout = await open();
    await checkout.pick('eth');
    await checkout.simulate('confirm');
    expect(await readPage(checkout)).not.toContain('id="return"');
  });

  test('overdue, then expired', async () => {
    const checkout = await open({ redirectUrl: RETURN });
    await checkout.pick('eth');
    const before = service.clock.now;
    service.clock.now = (await checkout.payment()).expires_at.getTime();
    const overdue = await readPage(checkout);
    expect(overdue).toContain('Do not send anything any more.');
    expect(overdue).not.toContain('data-final');
    expect(overdue).not.toContain('id="return"');
    expect(await readStage(checkout)).toBe('overdue');
    await expirePayments(service.db, new Date(service.clock()), 100);
    const expired = await readPage(checkout);
    service.clock.now = before;
    expect(expired).toContain('No payment arrived in time.');
    expect(expired).toContain('status=expired#top" rel="noreferrer">');
    expect(expired).not.toContain(ADDRESSES.eth);
    expect(await readStage(checkout)).toBe('expired');
  });

  test('cancelled', async () => {
    const checkout = await open({ redirectUrl: RETURN });
    await checkout.post('cancel');
    const page = await readPage(checkout);
    expect(page).toContain('Payment cancelled');
    expect(page).toContain('status=cancelled#top" rel="noreferrer">');
    expect(await readStage(checkout)).toBe('cancelled');
  });

  test('unsuccessful', async () => {
    const checkout = await open({ redirectUrl: RETURN });
    await checkout.pick('eth');
    await checkout.simulate('fail');
    const page = await readPage(checkout);
    expect(page).toContain('The transaction failed on Ethereum Mainnet.');
    expect(page).toContain('status=unsuccessful#top" rel="noreferrer">');
    expect(await readStage(checkout)).toBe('unsuccessful');
  });

  test('unsuccessful, because too little had come before time was up', async () => {
    const checkout = await openAlone();
    await checkout.pick('eth');
    await checkout.simulate('under');
    const before = service.clock.now;
    service.clock.now = (await checkout.payment()).expires_at.getTime();
    await expirePayments(service.db, new Date(service.clock()), 100);
    const page = await readPage(checkout);
    service.clock.now = before;
    expect(page).toContain('Less than the amount asked for arrived');
  });
});

test('the revision changes exactly when the shown content changes', async () => {
  const checkout = await open();
  const revision = async () => (await checkout.get(`${checkout.path}/status`)).json().revision;
  const seen = [await revision()];
  expect(await revision()).toBe(seen[0]);
  expect(await readPage(checkout)).toContain(`data-revision="${seen[0]}"`);
  await checkout.pick('eth');
  seen.push(await revision());
  await checkout.pick('btc');
  seen.push(await revision());
  await checkout.simulate('detect');
  seen.push(await revision());
  await checkout.simulate('confirm');
  seen.push(await revision());
  expect(new Set(seen).size).toBe(seen.length);
});

test('a customer who bears the commission sees it before and after choosing', async () => {
  const bearing = await addMerchant(service, { commissionPayer: 'shopper', commissionBps: 150 });
  const checkout = await openCheckout(service, bearing, { amount: 3333 });
  const bill = 'Order $33.33 + service fee $0.50';
  expect(await readPage(checkout)).toContain(bill);
  await checkout.pick('eth');
  const page = await readPage(checkout);
  expect(page).toContain(bill);
  expect(page).toContain('$33.83');
});

test('texts of merchants are text, never markup', async () => {
  const name = `</title><script>alert(1)</script>"'&`;
  const hostile = await addMerchant(service, { name });
  const checkout = await openCheckout(service, hostile);
  for (const play of [undefined, 'detect', 'confirm'] as const) {
    if (play !== undefined) await checkout.simulate(play);
    const page = await readPage(checkout);
    expect(page).not.toContain('<script>');
    expect(page).toContain('&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;');
  }
});

describe('a transaction hash', () => {
  const ask = (checkout: OpenedCheckout, hash: string) =>
    readPage(checkout, `${checkout.path}?${new URLSearchParams({ transaction: hash })}`);

  test('that no node has seen', async () => {
    const checkout = await open();
    await checkout.pick('eth');
    const page = await ask(checkout, ` 0x${'aBcDeF01'.repeat(8)} `);
    expect(page).toContain('We have not seen this transaction on Ethereum Mainnet yet.');
    expect(page).toContain('<details id="look-up" open>');
  });

  test('of this payment, in either case', async () => {
    const checkout = await open();
    await checkout.pick('eth');
    await checkout.simulate('detect');
    const { transaction_hash: hash } = await checkout.payment();
    expect(await ask(checkout, hash?.toUpperCase() ?? '')).toContain('It is not final yet.');
  });

  test('of an underpayment', async () => {
    const checkout = await openAlone();
    await checkout.pick('eth');
    await checkout.simulate('under');
    const { transaction_hash: hash } = await service.db
      .selectFrom('deposits')
      .select('transaction_hash')
      .where('payment_id', '=', checkout.paymentId)
      .executeTakeFirstOrThrow();
    expect(await ask(checkout, hash)).toContain('it is less than the amount asked for');
  });

  test('of another payment on the same address', async () => {
    const [checkout, other] = [await open(), await open()];
    await checkout.pick('eth');
    await other.pick('eth');
    await other.simulate('confirm');
    const { transaction_hash: hash } = await other.payment();
    expect(await ask(checkout, hash ?? '')).toContain('it did not count for this payment');
  });

  test.each([
    ...['x', '<b>', 'a\0b', `0x${'a'.repeat(200)}`, 'two words', '%'],
    ...['0xAbCdEf0123456789', 'a'.repeat(64), ADDRESSES.eth],
  ])('that is none on Ethereum: %j', async text => {
    const checkout = await open();
    await checkout.pick('eth');
    const page = await ask(checkout, text);
    expect(page).toContain(
      'This is not a transaction hash of Ethereum Mainnet, which is 0x and 64',
    );
    expect(page).not.toContain('<b>"');
  });

  test('of another network than the chosen one is refused', async () => {
    const checkout = await open();
    await checkout.pick('btc');
    const page = await ask(checkout, `0x${'a'.repeat(64)}`);
    expect(page).toContain('This is not a transaction hash of Bitcoin Mainnet, which is 64 digits');
    await checkout.simulate('detect');
    const { transaction_hash: hash } = await checkout.payment();
    expect(await ask(checkout, hash ?? '')).toContain('It is not final yet.');
  });
});

describe('a link that leads nowhere', () => {
  let origin: string;
  beforeAll(async () => {
    origin = await service.app.listen({ host: '127.0.0.1', port: 0 });
  });

  const MISSING = 'There is no such payment page';
  const get = (url: string, headers = {}) => service.app.inject({ url, headers });

  test.each([
    ['a token that is none', `/checkout/${'x'.repeat(43)}`],
    ['a token cut short', '/checkout/abc'],
    ['a token with more', `/checkout/${'x'.repeat(44)}`],
    ['no token', '/checkout/'],
    ['a page that is none', `/checkout/${'x'.repeat(43)}/other`],
    ['an asset that is none', '/checkout/assets/0/other.js'],
  ])('%s', async (_what, url) => {
    expect(expectPage(await get(url), 404)).toContain(MISSING);
  });

  test('the token of a US account, whose payments are made elsewhere', async () => {
    const us = await addMerchant(service, { kind: 'us' });
    const { checkoutUrl } = await createPrompt(service, us, { amount: 5000 });
    const token = new URL(checkoutUrl).pathname.split('/').at(-1);
    expect(expectPage(await get(`/checkout/${token}`), 404)).toContain(MISSING);
  });

  test('a path that cannot be decoded', async () => {
    expectPage(await get('/checkout/%ZZ'), 400);
  });

  test.each(['%0d%0aX', '%00', '%E4%B8%AD', 'abc'])(
    'a token that no header may contain, or no token at all: %s',
    async token => {
      const before = service.logs.length;
      for (const form of ['cancel', 'network', 'simulate']) {
        const response = await fetch(`${origin}/checkout/${token}/${form}`, { redirect: 'manual' });
        expect(response.status).toBe(404);
        expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
        expect(await response.text()).toContain(MISSING);
      }
      expect(service.logs.slice(before).filter(({ level }) => level === 'error')).toEqual([]);
    },
  );

  test('another method', async () => {
    const { path } = await open();
    const answer = await service.app.inject({ method: 'DELETE', url: path });
    expectPage(answer, 405);
    expect(answer.headers.allow).toBe('GET, HEAD');
  });

  test('requested by a script gets the envelope', async () => {
    expectRefusal(await get(`/checkout/${'x'.repeat(43)}/status`), 'E3001');
    const accept = 'application/json';
    expectRefusal(await get(`/checkout/${'x'.repeat(43)}`, { accept }), 'E3001');
  });
});

describe('assets', () => {
  test('are cached forever under the hash of their content', async () => {
    const page = await readPage(await open());
    const paths = [...page.matchAll(/(?:href|src)="(\/checkout\/assets\/[^"]+)"/g)].map(
      ([, path = '']) => path,
    );
    expect(paths.map(path => path.split('/').at(-1)).toSorted()).toEqual([
      'base.css',
      'icon.svg',
      'script.js',
      'style.css',
    ]);
    for (const path of paths) {
      const response = await service.app.inject({ url: path });
      expect(response.statusCode).toBe(200);
      expect(response.headers['cache-control']).toBe('public, max-age=31536000, immutable');
      const other = await service.app.inject({ url: path.replace(/[0-9a-f]{16}/, '0') });
      expect(other.body).toBe(response.body);
      expect(other.headers['cache-control']).toBe('public, max-age=60');
    }
  });
});

test('behind a proxy that serves the service below a path, every path starts with that', async () => {
  const below = await startTestApp({
    beside: service,
    env: { PUBLIC_URL: 'https://example.test/pay' },
  });
  const { path } = await open();
  const { body } = await below.app.inject({ url: path });
  await below.close();
  const paths = [...body.matchAll(/(?:href|src|action)="(\/[^"]*)"/g)].map(([, found]) => found);
  expect(paths.length).toBeGreaterThan(4);
  expect(paths.filter(found => !found?.startsWith('/pay/checkout/'))).toEqual([]);
});

test('a checkout has a limit of its own, ten times that of the API', async () => {
  const limited = await startTestApp({ beside: service, env: { RATE_LIMIT_MAX: '2' } });
  const { path } = await open();
  const ask = (url: string) => limited.app.inject({ url, headers: { accept: 'text/html' } });
  for (let count = 0; count < 20; count += 1) {
    expect((await ask(`${path}/status`)).statusCode).toBe(200);
  }
  const page = await ask(path);
  expect(expectPage(page, 429)).toContain('Too many requests');
  expect(page.headers['retry-after']).toMatch(/^\d+$/);
  expectRefusal(await ask(`${path}/status`), 'E9001');
  // The API allowance of the address is untouched.
  expect((await ask('/docs/errors')).statusCode).toBe(200);
  await limited.close();
});
