import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createSandboxProcessor } from '#payments/processors/sandbox-processor.ts';
import { SANDBOX_TEXTS } from '#surfaces/api/processor/texts.ts';
import { LANGUAGE_TAGS, languageOf } from '#surfaces/checkout/page/texts/languages.ts';
import { addMerchant, type MerchantWithKey } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { createPrompt, expectRefusal } from '../../helpers/prompts.ts';
import { eventsOf, logged, readPayment } from './payment-history.ts';

const ORIGIN = 'https://pay.example.test';
const NAME = `O'Neil <b>"Books" & Sons</b>`;
const NOTE = '<script>alert(1)</script>';

let service: TestApp;
let shop: MerchantWithKey;

beforeAll(async () => {
  service = await startTestApp();
  shop = await addMerchant(service, {
    kind: 'us',
    name: NAME,
    addresses: {},
    commissionBps: 250,
    domains: ['shop.example.com'],
  });
});
beforeEach(() => {
  service.logs.length = 0;
});
afterAll(() => service.close());

async function createPayment(body: object = {}) {
  const { prompt, checkoutUrl } = await createPrompt(service, shop, { amount: 123_456, ...body });
  expect(checkoutUrl).toMatch(
    /^https:\/\/pay\.example\.test\/processor\/sandbox\/[A-Za-z0-9_-]{43}$/,
  );
  return { id: prompt.id, path: checkoutUrl.slice(ORIGIN.length) };
}

const open = (path: string) => service.app.inject({ url: path });

function press(path: string, action: string, { app }: Pick<TestApp, 'app'> = service) {
  return app.inject({
    method: 'POST',
    url: path,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: `network=sol&action=${action}`,
  });
}

/** Presses a button like a browser: follows the redirect, and returns the page. */
async function pressAndFollow(path: string, action: string) {
  const response = await press(path, action);
  expect(response.statusCode, response.body).toBe(303);
  const { pathname } = new URL(String(response.headers.location), `${ORIGIN}${path}`);
  expect(pathname).toBe(path);
  const page = await open(pathname);
  expect(page.statusCode).toBe(200);
  return page;
}

const read = (id: string) => readPayment(service, shop, id);
const buttonsOf = (html: string) =>
  [...html.matchAll(/<button name="action" value="(\w+)">/g)].map(([, action]) => action);

describe('the page', () => {
  test('shows amount, merchant and note, escaped, under a strict policy', async () => {
    const { path } = await createPayment({ note: NOTE });
    const page = await open(path);
    expect(page.statusCode).toBe(200);
    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    expect(page.body).toContain('<h1>Pay $1,234.56</h1>');
    expect(page.body).toContain('O&#39;Neil &lt;b&gt;&quot;Books&quot; &amp; Sons&lt;/b&gt;');
    expect(page.body).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(page.body).not.toMatch(/<script>|<b>|style=|onclick/);
    expect(page.body).toContain('<option value="sol">SOL · Solana Mainnet</option>');
    expect(page.body).toContain('<option value="eth-usdc">USDC · Ethereum Mainnet</option>');
    expect(page.body).toMatch(
      /data-countdown="[\dT:.-]+Z" data-now="[\dT:.-]+Z" data-left="\{0\} left to pay">Pay before/,
    );
    expect(buttonsOf(page.body)).toEqual(['pay', 'hold', 'fail', 'cancel']);
  });

  test("speaks the payer's language, and has the order's reference", async () => {
    const { path } = await createPayment({ customerReferenceId: 'order-7' });
    const inLanguage = (url: string, language: string) =>
      service.app.inject({ url, headers: { 'accept-language': language } });
    expect((await open(path)).body).toContain('<p>Order <bdi>order-7</bdi></p>');
    for (const tag of LANGUAGE_TAGS) {
      const { body } = await inLanguage(path, tag);
      expect(body).toContain(`<html lang="${tag}" dir="${languageOf(tag).direction}">`);
      expect(body).toContain('<bdi>order-7</bdi>');
      for (const text of [SANDBOX_TEXTS[tag].buttons.hold, languageOf(tag).texts.simulation]) {
        expect(body).toContain(text);
      }
      const done = await inLanguage('/processor/done', tag);
      expect(done.body).toContain(`<h1>${SANDBOX_TEXTS[tag].thanks}</h1>`);
    }
    // A language chosen by hand is kept.
    const paid = await press(`${path}?lang=de`, 'hold');
    expect(paid.headers.location).toBe(`${path.split('/').at(-1)}?lang=de`);
    expect((await press(`${path}?lang=de`, 'pay')).body).toContain('Das ist nicht mehr möglich.');
  });

  test('separates test networks from those whose coins have value', async () => {
    const { path } = await createPayment();
    const groups = [
      ...(await open(path)).body.matchAll(/<optgroup label="([^"]+)">\n(.*?)<\/optgroup>/gs),
    ];
    expect(groups.map(([, label]) => label)).toEqual([
      'Networks',
      'Test networks: coins without value',
    ]);
    const ids = groups.map(([, , options = '']) =>
      [...options.matchAll(/value="([^"]+)"/g)].map(([, id = '']) => id),
    );
    expect(ids[0]?.length).toBeGreaterThan(5);
    expect(ids[0]?.filter(id => /-(test|dev)$/.test(id))).toEqual([]);
    expect(ids[1]?.filter(id => !/-(test|dev)$/.test(id))).toEqual([]);
  });

  test('loads its styles and its script from its own origin only', async () => {
    const { path } = await createPayment();
    const { body } = await open(path);
    const links = [...body.matchAll(/(?:href|src|action)="([^"]*)"/g)].map(([, url]) => url ?? '');
    expect(links).toEqual([
      expect.stringMatching(/^\/processor\/assets\/[0-9a-f]{16}\/base\.css$/),
      expect.stringMatching(/^\/processor\/assets\/[0-9a-f]{16}\/style\.css$/),
      expect.stringMatching(/^\/processor\/assets\/[0-9a-f]{16}\/countdown\.js$/),
    ]);
    for (const url of links) {
      const style = await open(url);
      expect([style.statusCode, style.headers['content-type']]).toEqual([
        200,
        url.endsWith('.js') ? 'text/javascript; charset=utf-8' : 'text/css; charset=utf-8',
      ]);
    }
  });

  test('writes every amount exactly', async () => {
    const shown = async (amount: number) => {
      const { path } = await createPayment({ amount });
      return /<h1>Pay (.*)<\/h1>/.exec((await open(path)).body)?.[1];
    };
    expect(await shown(50)).toBe('$0.50');
    expect(await shown(99_905)).toBe('$999.05');
    expect(await shown(100_000_000)).toBe('$1,000,000.00');
  });

  test.each(['GET', 'POST'] as const)(
    'is a friendly 404 for an unknown token (%s)',
    async method => {
      for (const token of ['x', 'A'.repeat(43), `${'A'.repeat(2000)}`, '%3Cb%3E']) {
        const page = await service.app.inject({ method, url: `/processor/sandbox/${token}` });
        expect(page.statusCode).toBe(404);
        expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
        expect(page.body).toContain('There is no such payment page');
        expect(page.body).not.toContain('<b>');
      }
    },
  );

  test('cannot be found from what the merchant receives', async () => {
    const { id } = await createPayment();
    const { external_id } = await service.db
      .selectFrom('payments')
      .select('external_id')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    for (const guess of [external_id, external_id?.replace('sandbox_', ''), id]) {
      expect((await open(`/processor/sandbox/${guess}`)).statusCode).toBe(404);
    }
  });

  test('works on another replica and after a restart', async () => {
    const { id, path } = await createPayment();
    const replica = await startTestApp({ beside: service });
    expect((await replica.app.inject({ url: path })).statusCode).toBe(200);
    const paid = await press(path, 'pay', replica);
    expect(paid.statusCode).toBe(303);
    await replica.close();
    expect((await read(id)).status).toBe('successful');
  });
});

describe('pressing a button', () => {
  test('pays: all the way to settled, with no way back to the merchant', async () => {
    const { id, path } = await createPayment({ redirectUrl: 'https://shop.example.com/done' });
    const page = await pressAndFollow(path, 'pay');
    expect(page.body).toContain('The payment is settled');
    expect(page.body).not.toContain('shop.example.com');
    expect(buttonsOf(page.body)).toEqual([]);
    expect(await read(id)).toMatchObject({
      status: 'successful',
      sessionStatus: 'completed',
      commissionAmount: 3_086,
      transactionHash: expect.stringMatching(/^sandbox_transaction_[0-9a-f]{32}$/),
      paidAt: new Date(service.clock.now).toISOString(),
      settlementModel: null,
      blockchainId: null,
      tokenAmount: null,
      redirectUrl: 'https://shop.example.com/done',
    });
    expect(await eventsOf(service, id)).toEqual(['created', 'detected', 'successful']);
  });

  test.each([
    ['settle', 'successful', 'settled'],
    ['fail', 'unsuccessful', 'failed'],
  ])('holds, then lets it %s', async (action, status, shown) => {
    const { id, path } = await createPayment();
    const held = await pressAndFollow(path, 'hold');
    expect(held.body).toContain('not settled yet');
    expect(buttonsOf(held.body)).toEqual(['settle', 'fail']);
    expect(await read(id)).toMatchObject({ status: 'pending', sessionStatus: 'completed' });
    expect((await pressAndFollow(path, action)).body).toContain(shown);
    expect(await read(id)).toMatchObject({ status, sessionStatus: 'completed' });
    expect(await eventsOf(service, id)).toEqual(['created', 'detected', status]);
  });

  test('fails', async () => {
    const { id, path } = await createPayment();
    expect((await pressAndFollow(path, 'fail')).body).toContain('The payment failed');
    expect(await read(id)).toMatchObject({
      status: 'unsuccessful',
      lastError: { code: 'payment_failed' },
      transactionHash: null,
      commissionAmount: null,
    });
  });

  test('cancels', async () => {
    const { id, path } = await createPayment();
    expect((await pressAndFollow(path, 'cancel')).body).toContain('was cancelled');
    expect(await read(id)).toMatchObject({
      status: 'cancelled',
      sessionStatus: 'cancelled',
      cancellationReason: 'cancelled_by_customer',
    });
    expect(await eventsOf(service, id)).toEqual(['created', 'cancelled']);
  });

  test('after the end, or one that does not exist, changes nothing and says so', async () => {
    const { id, path } = await createPayment();
    expect((await press(path, 'settle')).statusCode).toBe(409);
    expect((await press(path, 'refund')).statusCode).toBe(409);
    expect((await press(path, '__proto__')).statusCode).toBe(409);
    await pressAndFollow(path, 'cancel');
    const ended = { payment: await read(id), events: await eventsOf(service, id) };
    for (const action of ['pay', 'fail', 'cancel']) {
      const response = await press(path, action);
      expect(response.statusCode).toBe(409);
      expect(response.body).toContain('role="alert"');
    }
    expect({ payment: await read(id), events: await eventsOf(service, id) }).toEqual(ended);
  });

  test('is too late when the time to pay is over', async () => {
    const { id, path } = await createPayment();
    service.clock.now = Date.parse((await read(id)).expiresAt);
    const page = await open(path);
    expect(page.body).toContain('The time to pay is over');
    expect(buttonsOf(page.body)).toEqual([]);
    expect((await press(path, 'pay')).statusCode).toBe(409);
    expect((await read(id)).status).toBe('pending');
  });

  test('twice at once pays once', async () => {
    const { id, path } = await createPayment();
    const responses = await Promise.all([1, 2, 3, 4].map(() => press(path, 'pay')));
    for (const { statusCode } of responses) expect([303, 409]).toContain(statusCode);
    expect(await eventsOf(service, id)).toEqual(['created', 'detected', 'successful']);
    expect(logged(service, 'error')).toEqual([]);
  });

  test('needs POST, and a form of bounded size', async () => {
    const { id, path } = await createPayment();
    await open(`${path}?action=pay`);
    expectRefusal(await press(path, `pay&x=${'x'.repeat(70_000)}`), 'E1000');
    expect((await read(id)).status).toBe('pending');
  });
});

describe('a notification', () => {
  const PATH = '/processor/notifications/sandbox';

  /** Signs what the page would send for a payment, over HTTP. */
  async function notificationFor(path: string, amountCents = 123_456) {
    const sandbox = createSandboxProcessor(service.keyring, ORIGIN);
    const token = path.replace('/processor/sandbox/', '');
    const { headers, body } = sandbox.notify(
      {
        externalId: sandbox.externalIdOf(token),
        kind: 'settled',
        amountCents,
        currency: 'usd',
        transactionReference: 'reference',
        commissionCents: 7,
      },
      service.clock(),
    );
    return { headers: headers as Record<string, string>, body };
  }

  const deliver = (headers: Record<string, string>, body: Buffer) =>
    service.app.inject({ method: 'POST', url: PATH, headers, payload: body });

  test('settles with the commission that it reports', async () => {
    const { id, path } = await createPayment();
    const { headers, body } = await notificationFor(path);
    expect((await deliver(headers, body)).statusCode).toBe(200);
    expect(await read(id)).toMatchObject({
      status: 'successful',
      commissionAmount: 7,
      transactionHash: 'reference',
    });
  });

  test('is refused when forged, changed, too old, or for another amount', async () => {
    const { id, path } = await createPayment();
    const { headers, body } = await notificationFor(path);
    const changed = Buffer.from(body.toString().replace('reference', 'Reference'));
    expectRefusal(await deliver(headers, changed), 'E2007');
    expectRefusal(await deliver({}, body), 'E2007');
    expectRefusal(await deliver({ 'sandbox-signature': 't=1,v1=00' }, body), 'E2007');
    const stranger = await startTestApp();
    const forged = { ...service, keyring: stranger.keyring };
    const token = path.replace('/processor/sandbox/', '');
    const other = createSandboxProcessor(forged.keyring, ORIGIN);
    const foreign = other.notify(
      {
        externalId: other.externalIdOf(token),
        kind: 'settled',
        amountCents: 123_456,
        currency: 'usd',
        transactionReference: null,
        commissionCents: null,
      },
      service.clock(),
    );
    expectRefusal(await deliver(foreign.headers as Record<string, string>, foreign.body), 'E2007');
    await stranger.close();
    const wrong = await notificationFor(path, 123_455);
    expectRefusal(await deliver(wrong.headers, wrong.body), 'E1040');
    service.clock.now += 301_000;
    expectRefusal(await deliver(headers, body), 'E2007');
    expect((await read(id)).status).toBe('pending');
    expect(await eventsOf(service, id)).toEqual(['created']);
  });
});
