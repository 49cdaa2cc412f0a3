import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SimulationCase } from '#onchain/settlement/simulate.ts';
import { BLOCKCHAIN_IDS } from '#schemas/blockchain.ts';
import { webhookHeaders } from '#signing/webhooks.ts';
import { WOOCOMMERCE_PATH } from '#surfaces/docs/downloads/woocommerce.ts';
import { EVENT_EXAMPLE } from '#surfaces/docs/openapi/webhooks.ts';
import { ADDRESSES, addMerchant, type MerchantWithKey } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { simulate } from '../helpers/simulate.ts';
import { type Driver, LANGUAGES, startDriver } from './installed-libraries.ts';

const run = promisify(execFile);
const PROGRAM = resolve(import.meta.dirname, 'programs/woocommerce/shop.php');
const MISSING = LANGUAGES.find(({ name }) => name === 'PHP')?.missing ?? [];
const LACKING = MISSING.map(name => `, skipped: no ${name}`).join('');
const WEBHOOK_SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

interface Order {
  readonly status: string;
  readonly transaction: string;
  readonly isOpen: boolean;
  /** Newest first. */
  readonly notes: readonly string[];
}

/**
 * The plugin as the service serves it, in a shop of stubs for WordPress and WooCommerce: neither npm nor Debian has the
 * latter. WORDPRESS names the wp-load.php of a real shop with the active plugin, to be used instead.
 */
describe.skipIf(MISSING.length > 0)(`the plugin for WooCommerce${LACKING}`, () => {
  let service: TestApp;
  let origin: string;
  let merchant: MerchantWithKey;
  let directory: string;
  let shop: Driver;
  let rival: Driver;

  beforeAll(async () => {
    service = await startTestApp({ env: { SIMULATION: 'on' } });
    // The plugin signs with the real time.
    service.clock.now = Date.now();
    merchant = await addMerchant(service, {
      addresses: ADDRESSES,
      domains: ['shop.example.test', '127.0.0.1'],
    });
    origin = await service.app.listen({ host: '127.0.0.1', port: 0 });
    directory = await mkdtemp(join(tmpdir(), 'eps-woocommerce-'));
    await mkdir(join(directory, 'store'));
    const archive = join(directory, 'plugin.zip');
    const response = await fetch(`${origin}${WOOCOMMERCE_PATH}`);
    await writeFile(archive, await response.bytes());
    await run('unzip', ['-q', archive, '-d', directory]);
    shop = startShop();
    rival = startShop();
    const { said } = await save();
    expect(said.join()).toContain('The key works');
  });
  afterAll(async () => {
    for (const each of [shop, rival]) expect(await each.end()).toEqual({ status: 0, err: '' });
    await service.close();
    await rm(directory, { recursive: true, force: true });
  });

  function startShop(constants: object = {}): Driver {
    const { PATH, WORDPRESS } = process.env;
    return startDriver({
      directory,
      env: {
        PATH,
        STORE: join(directory, 'store'),
        CONSTANTS: JSON.stringify(constants),
        PLUGIN: join(directory, 'external-payments/external-payments.php'),
        ...(WORDPRESS === undefined ? {} : { WORDPRESS }),
      },
      command: ['php', PROGRAM],
    });
  }

  /** Submits the settings form with the button that tests the key. */
  function save(change: Record<string, string> = {}) {
    const { keyId, secret, passphrase } = merchant;
    const fields = {
      enabled: '1',
      title: 'Crypto',
      description: '',
      url: origin,
      key_id: keyId,
      secret,
      passphrase,
      webhook_secret: WEBHOOK_SECRET,
      ...change,
    };
    return shop.ask<{ said: string[]; html: string }>({
      do: 'settings',
      button: 'external_payments_test',
      fields,
    });
  }

  const look = (order: number) => shop.ask<Order>({ do: 'look', order });
  const change = (order: number, to: object) => shop.ask<Order>({ do: 'change', order, ...to });
  const comeBack = (order: number) =>
    shop.ask<Order & { html: string }>({ do: 'come back', order });
  const poll = (...orders: number[]) => shop.ask<{ scheduled: boolean }>({ do: 'poll', orders });
  const pay = (order: number, by = shop) =>
    by.ask<{ result: string; redirect?: string; notices: string[] }>({ do: 'pay', order });

  async function newOrder(given: object = {}): Promise<number> {
    return (await shop.ask<{ id: number }>({ do: 'order', total: '50.00', ...given })).id;
  }

  function paymentsOf(order: number | string) {
    return service.db
      .selectFrom('payments')
      .selectAll()
      .where('customer_reference_id', '=', String(order))
      .where('merchant_id', '=', merchant.merchant.id)
      .orderBy('id')
      .execute();
  }

  async function lastPaymentOf(order: number) {
    const last = (await paymentsOf(order)).at(-1);
    if (last === undefined) throw new Error(`order ${order} has no payment`);
    return last;
  }

  async function play(id: string, played: SimulationCase, network = 'eth') {
    service.clock.now = Date.now();
    await simulate(service, id, played, new Date(service.clock()), network);
  }

  /** An order whose payment has gone through a simulated case. */
  async function orderAfter(played?: SimulationCase, given: object = {}) {
    const order = await newOrder(given);
    expect(await pay(order)).toMatchObject({ result: 'success', notices: [] });
    const payment = await lastPaymentOf(order);
    if (played !== undefined) await play(payment.id, played);
    return { order, payment };
  }

  function deliver(id: string, by = shop, secret = WEBHOOK_SECRET) {
    const data = { ...EVENT_EXAMPLE.data, id };
    const body = JSON.stringify({ ...EVENT_EXAMPLE, type: 'payment_prompt.successful', data });
    const timestamp = String(Math.floor(Date.now() / 1000));
    const headers = webhookHeaders([secret], { id: EVENT_EXAMPLE.id, timestamp, body });
    return by.ask<{ status: number }>({ do: 'webhook', body, headers });
  }

  const completions = ({ notes }: Order) =>
    notes.filter(note => note.startsWith('Paid: ') && !note.includes('But ')).length;

  test('is valid PHP in every file, including those that the stubs do not load', async () => {
    const parse = 'foreach (array_slice($argv, 1) as $f) token_get_all(file_get_contents($f), 1);';
    const files = globSync('external-payments/**/*.php', { cwd: directory });
    expect(files.length).toBeGreaterThan(30);
    await run('php', ['-r', parse, ...files], { cwd: directory });
  });

  test('sends the customer to a payment of exactly the total, which leads back to the order', async () => {
    const order = await newOrder({ total: '19.99' });
    const { redirect } = await pay(order);
    expect(redirect).toMatch(/^https:\/\/pay\.example\.test\/checkout\/\S+$/);
    expect(await paymentsOf(order)).toMatchObject([
      { amount: 1999, redirect_url: expect.stringContaining(`/order-received/${order}/?key=`) },
    ]);
    expect(await look(order)).toMatchObject({ status: 'pending', isOpen: true });
    // Again, while it is open: to the same payment, also for two concurrent clicks.
    expect((await pay(order)).redirect).toBe(redirect);
    const other = await newOrder();
    const [one, two] = await Promise.all([pay(other, shop), pay(other, rival)]);
    expect(one.redirect).toBe(two.redirect);
    expect(await paymentsOf(other)).toHaveLength(1);
    // Another total needs another payment.
    await change(order, { total: '20.00' });
    await pay(order);
    expect((await paymentsOf(order)).map(({ amount }) => amount)).toEqual([1999, 2000]);
  });

  test('accepts only whole US cents', async () => {
    for (const given of [{ currency: 'EUR' }, { total: '0.49' }]) {
      const order = await newOrder(given);
      const { result, notices } = await pay(order);
      expect([result, notices]).toEqual(['failure', [expect.stringContaining('another one')]]);
      expect(await paymentsOf(order)).toEqual([]);
    }
    expect(await shop.ask({ do: 'is available' })).toEqual({ is: true });
  });

  test('completes the order by a webhook, once, with hash and link in a note', async () => {
    const { order, payment } = await orderAfter('confirm');
    expect(await deliver(payment.id)).toEqual({ status: 204 });
    const { transaction_hash: hash } = await lastPaymentOf(order);
    const paid = await look(order);
    expect(paid).toMatchObject({ status: 'processing', transaction: hash, isOpen: false });
    expect(paid.notes.join('\n')).toContain(`<a href="https://etherscan.io/tx/${hash}"`);
    expect(await deliver(payment.id)).toEqual({ status: 204 });
    expect(await look(order)).toEqual(paid);
  });

  test('completes it once when webhook, webhook, poll and customer come concurrently', async () => {
    const { order, payment } = await orderAfter('confirm');
    // Both have read the order before.
    await Promise.all([shop, rival].map(each => each.ask({ do: 'look', order })));
    await Promise.all([
      ...[deliver(payment.id, shop), deliver(payment.id, rival)],
      ...[poll(order), rival.ask({ do: 'come back', order })],
    ]);
    const paid = await look(order);
    expect([paid.status, completions(paid)]).toEqual(['processing', 1]);
  });

  test('needs no webhook: the poll and the returning customer see it as well', async () => {
    const { order } = await orderAfter('confirm');
    const { order: another } = await orderAfter();
    // Not due yet.
    expect(await poll()).toEqual({ scheduled: true });
    expect(await look(order)).toMatchObject({ status: 'pending' });
    await poll(order, another);
    expect(await look(order)).toMatchObject({ status: 'processing', isOpen: false });
    // The return URL claims that it is paid.
    const back = await comeBack(another);
    expect(back).toMatchObject({ status: 'pending', isOpen: true });
    expect(back.html).toContain('We have not seen your payment yet');
    await play((await lastPaymentOf(another)).id, 'confirm');
    await shop.ask({ do: 'check', order: another });
    expect(await look(another)).toMatchObject({ status: 'processing' });
  });

  test('refuses a webhook that others have signed, and ignores orders of others', async () => {
    const { order, payment } = await orderAfter('confirm');
    const foreign = 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
    expect(await deliver(payment.id, shop, foreign)).toEqual({ status: 400 });
    expect(await look(order)).toMatchObject({ status: 'pending' });
    expect(await deliver('01890000-0000-7000-8000-000000000000')).toEqual({ status: 204 });
  });

  test('trusts only the service: a webhook of success for an unpaid payment', async () => {
    const { order, payment } = await orderAfter();
    expect(await deliver(payment.id)).toEqual({ status: 204 });
    expect(await look(order)).toMatchObject({ status: 'pending', isOpen: true });
  });

  test('holds an order whose total has changed since', async () => {
    const { order, payment } = await orderAfter('confirm');
    await change(order, { total: '60.00' });
    await deliver(payment.id);
    const held = await look(order);
    expect(held).toMatchObject({ status: 'on-hold', isOpen: false });
    expect(held.notes.join('\n')).toContain('not the total of the order');
    expect(completions(held)).toBe(0);
  });

  test.each(['cancelled', 'trash'])(
    'holds an order that was %s before it was paid',
    async status => {
      const { order, payment } = await orderAfter();
      expect(await shop.ask({ do: 'may cancel', order })).toEqual({ may: false });
      // By another process, after this one has read the order.
      await rival.ask({ do: 'change', order, status });
      await play(payment.id, 'confirm');
      await poll(order);
      const held = await look(order);
      expect(held).toMatchObject({ status: 'on-hold' });
      expect(held.notes.join('\n')).toMatch(
        new RegExp(`But the order was “${status}” by then`, 'i'),
      );
      expect(completions(held)).toBe(0);
    },
  );

  test('holds an order while its payment is seen and not final', async () => {
    const { order, payment } = await orderAfter('detect');
    const back = await comeBack(order);
    expect(back).toMatchObject({ status: 'on-hold', isOpen: true });
    expect(back.html).toContain('waiting for its network');
    expect(back.notes.join('\n')).toContain('Do not deliver');
    // Its chain has reversed it.
    await service.db
      .updateTable('payments')
      .set({ session_status: 'pending' })
      .where('id', '=', payment.id)
      .execute();
    await poll(order);
    expect(await look(order)).toMatchObject({ status: 'pending', isOpen: true });
  });

  test('fails an order whose payment has ended, which can be paid again', async () => {
    for (const ending of ['expire', 'cancel', 'revert'] as const) {
      const { order, payment } = await orderAfter(ending);
      await deliver(payment.id);
      expect([ending, await look(order)]).toMatchObject([ending, { status: 'failed' }]);
      await pay(order);
      const again = await lastPaymentOf(order);
      expect(again.id).not.toBe(payment.id);
      await play(again.id, 'confirm');
      await poll(order);
      expect([ending, await look(order)]).toMatchObject([ending, { status: 'processing' }]);
    }
  });

  test('notes once what is missing of a payment that was paid in part, which the rest completes', async () => {
    const { order, payment } = await orderAfter();
    // With no other payment open that the part might be for.
    await play(payment.id, 'under', 'eth-usdc');
    const inPart = (notes: readonly string[]) => notes.filter(note => /paid in part/.test(note));
    await poll(order);
    await poll(order);
    const back = await comeBack(order);
    expect(back).toMatchObject({ status: 'pending', isOpen: true });
    expect(back.html).toContain('Part of your payment has arrived');
    expect(inPart(back.notes)).toEqual([
      expect.stringMatching(/Received \S+ USDC of \S+ USDC .*, remaining \S+ USDC/),
    ]);
    await play(payment.id, 'rest');
    await poll(order);
    expect(await look(order)).toMatchObject({ status: 'processing', isOpen: false });
  });

  test('says that money has arrived for a payment that has ended unpaid', async () => {
    // No other payment has asked for half of this amount.
    const { order, payment } = await orderAfter(undefined, { total: '51.00' });
    await play(payment.id, 'under', 'eth-usdc');
    await play(payment.id, 'expire');
    await service.db
      .updateTable('payments')
      .set({ last_error_message: '<script>' })
      .where('id', '=', payment.id)
      .execute();
    await poll(order);
    const { status, notes } = await look(order);
    expect([status, notes.join('\n')]).toEqual([
      'failed',
      expect.stringMatching(/said last: “&lt;script&gt;” Return to the customer what has arrived/),
    ]);
  });

  test('leaves an order that somebody else holds on hold, and one with another payment payable', async () => {
    const { order, payment: first } = await orderAfter();
    await change(order, { total: '55.00' });
    await pay(order);
    const second = await lastPaymentOf(order);
    await play(second.id, 'expire');
    await poll(order);
    expect(await look(order)).toMatchObject({ status: 'pending', isOpen: true });
    // The total has changed: people decide.
    await play(first.id, 'confirm');
    await poll(order);
    await pay(order);
    await play((await lastPaymentOf(order)).id, 'expire');
    await poll(order);
    expect(await look(order)).toMatchObject({ status: 'on-hold', isOpen: false });
  });

  test('accepts the first paid payment, and names another that was paid as well', async () => {
    const { order, payment: first } = await orderAfter();
    await change(order, { total: '55.00' });
    await pay(order);
    const second = await lastPaymentOf(order);
    await play(second.id, 'confirm');
    await deliver(second.id);
    expect(await look(order)).toMatchObject({ status: 'processing', isOpen: true });
    await play(first.id, 'confirm', 'btc');
    await poll(order);
    const paid = await look(order);
    expect([paid.status, paid.isOpen, completions(paid)]).toEqual(['processing', false, 1]);
    expect(paid.notes.join('\n')).toMatch(`by payment ${first.id}.`);
    expect(paid.notes.join('\n')).toMatch('return this payment to the customer');
  });

  test('leads to the payment for which funds were seen, and creates no other', async () => {
    const { order, payment: first } = await orderAfter();
    const { redirect } = await pay(order);
    await change(order, { total: '55.00' });
    expect((await pay(order)).redirect).not.toBe(redirect);
    await play(first.id, 'detect');
    expect((await pay(order)).redirect).toBe(redirect);
    expect(await paymentsOf(order)).toHaveLength(2);
  });

  test('does not complete the copy of an order, which has the same meta', async () => {
    const { order, payment } = await orderAfter();
    const { id: copy } = await shop.ask<{ id: number }>({ do: 'copy', order });
    expect(await look(copy)).toMatchObject({ isOpen: true });
    await play(payment.id, 'confirm');
    await poll(copy, order);
    expect(await look(copy)).toMatchObject({ status: 'pending', isOpen: false });
    expect(await look(order)).toMatchObject({ status: 'processing' });
    expect((await pay(copy)).redirect).toMatch(/checkout/);
    expect(await paymentsOf(copy)).toHaveLength(1);
  });

  test('retries a creation whose failure is stored with another key', async () => {
    const order = await newOrder();
    await sql`
      create function break_events() returns trigger language plpgsql as $$
      begin raise exception 'broken on purpose'; end $$`.execute(service.db);
    await sql`
      create trigger break_events before insert on events
      for each row execute function break_events()`.execute(service.db);
    const { result, notices } = await pay(order);
    await sql`drop function break_events cascade`.execute(service.db);
    expect([result, notices.join()]).toEqual(['failure', expect.stringContaining('try again')]);
    expect((await pay(order)).result).toBe('success');
    expect(await paymentsOf(order)).toHaveLength(1);
  });

  test('retries a creation whose response a proxy has lost with the same key', async () => {
    const order = await newOrder();
    const proxy = createServer(async (request, response) => {
      const { host: _, ...headers } = request.headers as Record<string, string>;
      const body = await text(request);
      const answer = await fetch(origin + request.url, { method: 'POST', headers, body });
      await answer.body?.cancel();
      response.writeHead(504).end('<h1>Gateway Timeout</h1>');
    });
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    await save({ url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` });
    expect((await pay(order)).result).toBe('failure');
    await save();
    proxy.close();
    expect(await paymentsOf(order)).toHaveLength(1);
    expect((await pay(order)).result).toBe('success');
    expect(await paymentsOf(order)).toHaveLength(1);
  });

  test('reports the key test in words, and shows no secret again', async () => {
    const { secret, passphrase } = merchant;
    const texts: [Record<string, string>, RegExp][] = [
      [{ secret: `mps_${'0'.repeat(64)}` }, /The secret is wrong\..*E2007/],
      [{ secret, passphrase: 'another' }, /There is no such key.*E2004/],
      [{ passphrase, key_id: 'two words' }, /visible ASCII/],
      [{ url: 'payments.example.com' }, /must be an http or https URL/],
      [{ url: 'http://payments.example.com' }, /must begin with https/],
      [{ url: `${origin}/docs` }, /Check its address/],
      [{ url: 'http://127.0.0.1:9' }, /did not answer/],
    ];
    for (const [fields, expected] of texts) {
      const { said } = await save(fields);
      expect([fields, said.join()]).toEqual([fields, expect.stringMatching(expected)]);
    }
    // Empty fields keep the saved values.
    await save();
    const { said, html } = await save({ secret: '', passphrase: '', webhook_secret: '' });
    expect(said.join()).toContain('orders can be paid');
    for (const hidden of [secret, passphrase, WEBHOOK_SECRET]) expect(html).not.toContain(hidden);
    expect(html.match(/type="password"[^>]*value=""[^>]*autocomplete="off"/g)).toHaveLength(3);
  });

  const ORDERS = { domains: ['shop.example.test', '127.0.0.1'] };
  test.each([
    ['a scope to create', { key: { scopes: ['payment_prompts:read'] } }, /may not create.*E2101/],
    ['a scope to read', { key: { scopes: ['payment_prompts:write'] } }, /may not read.*E2101/],
    ['a domain', {}, /orders cannot be paid yet.*allow the domain .*Domains.*E1010/],
    ['its own domain', { domains: ['other.example'] }, /allow the domain .*Domains.*E1012/],
    ['an address', { ...ORDERS, addresses: {} }, /nowhere to pay to.*Addresses.*E1020/],
    ['a branch', { ...ORDERS, withoutMainBranch: true }, /not set up completely.*E1030/],
  ] as const)('finds that %s is missing', async (_, options, expected) => {
    const other = await addMerchant(service, options as Parameters<typeof addMerchant>[1]);
    const { keyId: key_id, secret, passphrase } = other;
    const { said } = await save({ key_id, secret, passphrase });
    await save();
    expect(said).toEqual([expect.stringMatching(expected)]);
    const payments = service.db.selectFrom('payments').select('id');
    expect(await payments.where('merchant_id', '=', other.merchant.id).execute()).toEqual([]);
  });

  test('a test that finds nothing links to what customers see, and asks for little', async () => {
    const { said } = await save();
    const [, url = ''] = /customers see: (\S+)$/.exec(said.join()) ?? [];
    const page = await service.app.inject({
      url: new URL(url).pathname,
      headers: { accept: 'text/html' },
    });
    expect(page.statusCode).toBe(200);
    expect((await paymentsOf('test')).at(-1)).toMatchObject({ amount: 50, status: 'pending' });
  });

  test('a constant overrides the settings, which say so', async () => {
    const constants = { EXTERNAL_PAYMENTS_SECRET: 'mps_of_wp_config' };
    const other = startShop(constants);
    const order = await newOrder();
    expect(await pay(order, other)).toMatchObject({
      result: 'failure',
      notices: [expect.stringContaining('You have not paid anything')],
    });
    expect((await pay(order)).result).toBe('success');
    expect(await other.end()).toEqual({ status: 0, err: '' });
  });

  test('sends nobody to a payment that its key cannot see', async () => {
    const { order } = await orderAfter();
    const {
      keyId: key_id,
      secret,
      passphrase,
    } = await addMerchant(service, {
      domains: ['shop.example.test', '127.0.0.1'],
    });
    await save({ key_id, secret, passphrase });
    expect((await pay(order)).result).toBe('success');
    await save();
    // Both are polled, and each is found again with its own key.
    expect((await look(order)).notes.filter(note => note.endsWith('created.'))).toHaveLength(2);
    expect(await look(order)).toMatchObject({ status: 'pending', isOpen: true });
  });

  test('links to the explorers of the production networks, and of no others', async () => {
    const isTest = (network: string) => /-(?:test|dev)$/.test(network);
    for (const network of BLOCKCHAIN_IDS) {
      const { html } = await shop.ask<{ html: string }>({ do: 'link', network });
      expect([network, html.includes('<a href="https://')]).toEqual([network, !isTest(network)]);
    }
  });

  test('retries later while the service does not respond', async () => {
    const { order, payment } = await orderAfter('confirm');
    await save({ url: 'http://127.0.0.1:9' });
    expect(await deliver(payment.id)).toEqual({ status: 503 });
    await poll(order);
    expect(await look(order)).toMatchObject({ status: 'pending', isOpen: true });
    await save();
    await poll(order);
    expect(await look(order)).toMatchObject({ status: 'processing' });
  });
});
