import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseLogo } from '#accounts/logo.ts';
import { type MerchantChange, setMerchant } from '#accounts/merchants.ts';
import { formatBaseUnits } from '#payments/token-amount.ts';
import {
  ADDRESSES,
  addMerchant,
  type MerchantWithKey,
  operatorOf,
} from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { type OpenedCheckout, openCheckout } from '../../helpers/checkout.ts';

/** 8 × 8 pixels, written by libwebp. */
const LOGO = Buffer.from('UklGRhwAAABXRUJQVlA4TBAAAAAvB8ABAAdQwChg/wMR0f8A', 'base64');

let service: TestApp;
let shop: MerchantWithKey;
beforeAll(async () => {
  service = await startTestApp();
  shop = await addMerchant(service, { name: 'Tea', domains: ['shop.example'] });
});
afterAll(() => service?.close());

const set = (change: MerchantChange) => setMerchant(operatorOf(service), shop.merchant.id, change);
const open = (body: Record<string, unknown> = {}) => openCheckout(service, shop, body);
const read = async (checkout: OpenedCheckout) => (await checkout.get()).body;

test('a logo is served under its hash, until it is removed', async () => {
  const checkout = await open();
  expect(await read(checkout)).not.toContain('class="logo"');
  await set({ logo: parseLogo(LOGO) });
  const [, path = ''] = /<img class="logo" src="([^"]+)" alt="">/.exec(await read(checkout)) ?? [];
  expect(path).toMatch(/^\/checkout\/logos\/[0-9a-f]{64}$/);
  const served = await service.app.inject({ url: path });
  expect(served.statusCode).toBe(200);
  expect(served.headers).toMatchObject({
    'content-type': 'image/webp',
    'x-content-type-options': 'nosniff',
    'cache-control': 'public, max-age=31536000, immutable',
  });
  expect(served.rawPayload.equals(LOGO)).toBe(true);
  const logos = service.db
    .updateTable('merchant_logos')
    .where('merchant_id', '=', shop.merchant.id);
  await logos.set({ content: Buffer.concat([LOGO, Buffer.from('more')]) }).execute();
  expect((await service.app.inject({ url: path })).rawPayload.equals(LOGO)).toBe(true);
  await set({ logo: null });
  expect(await read(checkout)).not.toContain('class="logo"');
  expect((await service.app.inject({ url: path })).statusCode).toBe(404);
  expect((await service.app.inject({ url: '/checkout/logos/x' })).statusCode).toBe(404);
});

test('an accent colour is a style sheet of its own', async () => {
  await set({ accentColor: '#7c3aed' });
  const page = await read(await open());
  await set({ accentColor: null });
  const [, path = ''] = /href="([^"]+\/accents\/[^"]+)"/.exec(page) ?? [];
  expect(path).toBe('/checkout/accents/7c3aed.css');
  const served = await service.app.inject({ url: path });
  expect(served.headers['content-type']).toBe('text/css; charset=utf-8');
  expect(served.body).toContain('--accent: light-dark(#7c3aed, #');
  for (const wrong of ['7C3AED.css', 'red.css', '7c3aed', '7c3aed.css;}', '..%2f7c3aed.css']) {
    const { statusCode } = await service.app.inject({ url: `/checkout/accents/${wrong}` });
    expect(statusCode, wrong).toBe(404);
  }
});

test('the order is named, and its note only where the merchant shows it', async () => {
  const checkout = await open({ customerReferenceId: '<b>A-7</b>', note: 'two & a half' });
  const hidden = await read(checkout);
  expect(hidden).toContain('Order <bdi>&lt;b&gt;A-7&lt;/b&gt;</bdi>');
  expect(hidden).not.toContain('two &amp; a half');
  await set({ showsNote: true });
  expect(await read(checkout)).toContain('two &amp; a half');
  await set({ showsNote: false });
});

test('the price, and since when it is held, are next to the amount', async () => {
  const checkout = await open();
  await checkout.pick('btc');
  const page = await read(checkout);
  expect(page).toMatch(/1\u00a0BTC = \$99,998\.00, fixed at <time datetime="2026-05-17T/);
  const stable = await openCheckout(
    service,
    await addMerchant(service, { addresses: { 'eth-usdc': ADDRESSES['eth-usdc'] } }),
  );
  await stable.pick('eth-usdc');
  expect(await read(stable)).not.toContain('fixed at');
});

test('for Solana wallets that refuse the code, another one is offered', async () => {
  const addresses = { sol: '7v91N7iZ9mNicL8WfG6cgSCKyRXydQjLh6UYBWwm6y1Q', btc: ADDRESSES.btc };
  const payee = await addMerchant(service, { addresses });
  const page = async (network: keyof typeof addresses) => {
    const checkout = await openCheckout(service, payee);
    await checkout.pick(network);
    return read(checkout);
  };
  const solana = await page('sol');
  const [, shown, other] = solana.split('solana:');
  expect(shown).toMatch(/^[^"]*&amp;reference=/);
  expect(other).toMatch(/^\w+\?amount=[\d.]+"/);
  expect(solana.match(/class="qr"/g)).toHaveLength(2);
  expect(solana).toContain('Does your wallet refuse the code?');
  expect(await page('btc')).not.toContain('Does your wallet refuse the code?');
});

test('a payment that has ended says what to do, whom to contact and how to go back', async () => {
  await set({ supportContact: 'help+pay@shop.example' });
  const checkout = await open({ redirectUrl: 'https://shop.example/thanks' });
  await checkout.post('cancel');
  const page = await read(checkout);
  expect(page).toContain('What you can do');
  expect(page).toContain('start again at Tea');
  expect(page).toContain(
    `href="mailto:help%2Bpay@shop.example?subject=${checkout.paymentId}">help+pay@shop.example</a>`,
  );
  expect(page).toContain('Return to Tea');
  await set({ supportContact: 'https://shop.example/help' });
  expect(await read(checkout)).toMatch(
    /href="https:\/\/shop.example\/help"[^>]*>shop.example\/help</,
  );
  await set({ supportContact: 'a?cc=b&#x@shop.example' });
  expect(await read(checkout)).toContain('href="mailto:a%3Fcc%3Db%26%23x@shop.example?subject=');
  await set({ supportContact: null });
  expect(await read(checkout)).not.toContain('class="contact"');
});

test('a paid page is a receipt', async () => {
  const checkout = await open({ customerReferenceId: 'A-8' });
  await checkout.pick('eth');
  await checkout.simulate('confirm');
  const page = await read(checkout);
  const { transaction_hash: hash } = await checkout.payment();
  const rows = [...page.matchAll(/<dt>([^<]+)<\/dt>\s*<dd>(?:<bdi>)?(.*?)<\//g)];
  expect(Object.fromEntries(rows.map(([, name, value]) => [name, value]))).toMatchObject({
    'Paid to': 'Tea',
    Order: 'A-8',
    Amount: '$50.00',
    Sent: expect.stringMatching(/^0\.0125\d*\u00a0ETH$/),
    Network: 'Ethereum Mainnet',
    Price: expect.stringMatching(/^1\u00a0ETH = \$/),
    When: expect.stringContaining('<time datetime="2026-05-17T'),
    Transaction: expect.stringContaining(hash ?? ''),
  });
});

test('a receipt says what was sent, if that is more than was asked for', async () => {
  const eth = `0x${'ef'.repeat(20)}`;
  const alone = await addMerchant(service, { addresses: { eth } });
  const checkout = await openCheckout(service, alone);
  await checkout.pick('eth');
  await checkout.simulate('over');
  const { status, token_amount: asked } = await checkout.payment();
  expect(status).toBe('successful');
  const { token_amount: sent } = await service.db
    .selectFrom('deposits')
    .select('token_amount')
    .where('payment_id', '=', checkout.paymentId)
    .executeTakeFirstOrThrow();
  expect(BigInt(sent)).toBeGreaterThan(BigInt(asked ?? 0));
  expect(await read(checkout)).toContain(`${formatBaseUnits(BigInt(sent), 18)}\u00a0ETH`);
});

test('a transfer on a former network is not part of what was sent', async () => {
  const checkout = await open();
  await checkout.pick('eth');
  await checkout.simulate('confirm');
  const paid = await service.db
    .selectFrom('deposits')
    .selectAll()
    .where('payment_id', '=', checkout.paymentId)
    .executeTakeFirstOrThrow();
  const before = await read(checkout);
  await service.db
    .insertInto('deposits')
    .values({ ...paid, id: randomUUID(), blockchain_id: 'btc', transaction_hash: 'ab'.repeat(32) })
    .execute();
  const sent = (page: string) => /<dt>Sent<\/dt><dd><bdi>([^<]+)</.exec(page)?.[1];
  expect(sent(before)).toMatch(/ETH$/);
  expect(sent(await read(checkout))).toBe(sent(before));
});

test('the networks that customers choose most come first, real ones before test ones', async () => {
  const addresses = {
    btc: ADDRESSES.btc,
    eth: ADDRESSES.eth,
    'eth-test': ADDRESSES.eth,
    'eth-usdc': ADDRESSES['eth-usdc'],
  };
  const other = await addMerchant(service, { addresses });
  const order = async () => {
    const page = await read(await openCheckout(service, other));
    return [...page.matchAll(/name="network" value="([^"]+)"/g)].map(([, id]) => id);
  };
  expect(await order()).toEqual(['btc', 'eth', 'eth-usdc', 'eth-test']);
  for (const id of ['eth-test', 'eth-usdc', 'eth-usdc', 'eth']) {
    await (await openCheckout(service, other)).pick(id);
  }
  expect(await order()).toEqual(['eth-usdc', 'eth', 'btc', 'eth-test']);
  const page = await read(await openCheckout(service, other));
  expect(page.match(/<span class="test">Test<\/span>/g)).toHaveLength(1);
  expect(page).toContain('≈\u00a00.00050001\u00a0BTC');
  expect(page).toContain('network fee can be several dollars · 60\u00a0minutes to pay');
  expect(page).toContain('network fee usually under $3.00 · 30\u00a0minutes to pay');
  expect(page).toContain('<span class="hint">30\u00a0minutes to pay</span>');
});

test('a page without its logo is at most 42 KB, in its largest state and language', async () => {
  const many = await addMerchant(service, { addresses: ADDRESSES });
  const checkout = await openCheckout(service, many);
  const sizes = [];
  for (const stage of ['choose', 'waiting']) {
    if (stage === 'waiting') await checkout.pick('btc');
    for (const lang of ['en', 'ar', 'ja']) {
      const page = await checkout.get(`${checkout.path}?lang=${lang}`);
      const assets = [
        ...page.body.matchAll(/(?:href|src)="(\/checkout\/(?:assets|accents)\/[^"]+)"/g),
      ];
      let bytes = page.rawPayload.length;
      for (const [, url = ''] of assets) {
        bytes += (await service.app.inject({ url })).rawPayload.length;
      }
      sizes.push(bytes);
    }
  }
  expect(sizes.every(bytes => bytes > 20_000)).toBe(true);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(42_000);
});
