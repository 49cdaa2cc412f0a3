import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BLOCKCHAIN_IDS } from '#schemas/blockchain.ts';
import type { LegacyReason } from '#surfaces/legacy/refusal.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { countWritten, createPrompt } from '../../helpers/prompts.ts';
import { converse, type RawRequest, render } from '../../helpers/raw-http.ts';
import {
  ACTIVE,
  addOlderMerchant,
  ask,
  BODY,
  basic,
  expectLegacyRefusal,
  type OlderMerchant,
  PROMPT,
} from './older-contract.ts';

const UUID = '01a1fc15-d527-77d5-87e3-427005d58e87';

let service: TestApp;
let shop: OlderMerchant;
let port: number;
beforeAll(async () => {
  service = await startTestApp();
  shop = await addOlderMerchant(service, { domains: ['shop.example'] });
  port = Number(new URL(await service.app.listen({ host: '127.0.0.1', port: 0 })).port);
});
afterAll(() => service.close());

const create = (change: Record<string, unknown> = {}, merchant = shop) =>
  ask(service, merchant, { body: { ...BODY, ...change } });
const sendRaw = (body: string | Buffer, headers: Record<string, string | undefined> = {}) =>
  ask(service, shop, { body, headers });

describe('400 Invalid body', () => {
  const good = JSON.stringify(BODY);
  test.each<[string, string | Buffer]>([
    ['nothing', ''],
    ['text', 'hello'],
    ['broken JSON', '{"amount":'],
    ['single quotes', "{'amount':1}"],
    ['two values', `${good}${good}`],
    ['a trailing comma', '{"amount":1,}'],
    ['NaN', '{"amount":NaN}'],
    ['null', 'null'],
    ['a list', '[]'],
    ['a text', '"body"'],
    ['a number', '1'],
    ['a byte order mark alone', '\ufeff'],
    ['what is not UTF-8', Buffer.from([0x7b, 0xff, 0x7d])],
    ['a field that changes prototypes', '{"__proto__":{},"amount":1}'],
    ['65 KB', good.replace('{', `{"x":"${'x'.repeat(65 * 1024)}",`)],
    ['5 MB', Buffer.alloc(5 * 1024 * 1024, '{')],
    ['100,000 open lists', '['.repeat(50_000)],
  ])('of %s', async (_name, body) => {
    expectLegacyRefusal(await sendRaw(body), 'bodyInvalid');
  });

  test.each([
    ['no type', undefined],
    ['text', 'text/plain'],
    ['a form', 'application/x-www-form-urlencoded'],
    ['another JSON', 'application/json5'],
    ['no type at all', 'nonsense'],
  ])('sent as %s', async (_name, type) => {
    expectLegacyRefusal(await sendRaw(good, { 'content-type': type }), 'bodyInvalid');
  });

  test('sent compressed', async () => {
    expectLegacyRefusal(await sendRaw(good, { 'content-encoding': 'gzip' }), 'bodyInvalid');
  });

  test('sent as JSON with a charset is valid', async () => {
    const response = await sendRaw(good, { 'content-type': 'application/json; charset=utf-8' });
    expect(response.statusCode).toBe(201);
  });

  test.each<[string, unknown[]]>([
    ['amount', [undefined, null, '19.99', '', [], [20], {}, true, 0.49, 0, -1, -0.5]],
    ['amount', [1_000_000.01, 1e21, 1.005, 19.999, 0.501, 1e-7]],
    [
      'blockchainIds',
      [undefined, null, [], 'btc', {}, ['doge'], ['BTC'], [1], [null], ['btc', '']],
    ],
    ['blockchainIds', [['btc\0'], Array(25).fill('btc')]],
    ['payer', [undefined, null, '', 'shopper', 'Merchant', 'merchant ', 1, ['merchant'], {}]],
    ['note', [1, {}, [], true, 'x'.repeat(501), 'a\0b', '\ud800']],
    ['redirectUrl', [1, {}, [], false, `https://shop.example/${'x'.repeat(2048)}`]],
    ['redirectUrl', ['https://shop.example/\0', 'https://shop.example/\udfff']],
  ])('for %s', async (field, values) => {
    for (const value of values) {
      expectLegacyRefusal(await create({ [field]: value }), 'bodyInvalid', field);
    }
  });

  test.each<[unknown, string]>([
    [null, 'it must be a JSON object'],
    [{}, 'amount is required'],
    [{ ...BODY, amount: '19.99' }, 'amount must be a number'],
    [{ ...BODY, amount: 0.49 }, 'amount must be at least 0.5'],
    [{ ...BODY, amount: 1_000_000.01 }, 'amount must be at most 1000000'],
    [{ ...BODY, amount: 1.005 }, 'amount must have at most two decimals'],
    [{ ...BODY, blockchainIds: 'btc' }, 'blockchainIds must be a list'],
    [{ ...BODY, blockchainIds: [] }, 'blockchainIds must have at least 1 entry'],
    [
      { ...BODY, blockchainIds: Array(25).fill('btc') },
      'blockchainIds must have at most 24 entries',
    ],
    [
      { ...BODY, blockchainIds: ['btc', 'doge'] },
      `blockchainIds.1 must be one of ${BLOCKCHAIN_IDS.join(', ')}`,
    ],
    [{ ...BODY, blockchainIds: [1] }, 'blockchainIds.0 must be one text'],
    [{ ...BODY, payer: 'shopper' }, 'payer must be one of merchant, customer'],
    [{ ...BODY, payer: null }, 'payer must be one text'],
    [{ ...BODY, note: 1 }, 'note must be one text or null'],
    [{ ...BODY, note: 'x'.repeat(501) }, 'note must be at most 500 characters long'],
    [{ ...BODY, note: '\0' }, 'note must be valid Unicode without NUL characters'],
    [{ ...BODY, redirectUrl: {} }, 'redirectUrl must be one text or null'],
  ])('in words of its own: %j', async (body, words) => {
    const { message } = (await sendRaw(JSON.stringify(body))).json();
    expect(message).toBe(`Invalid body: ${words}`);
  });

  test.each(['0.5000000000000001', '1.001', '49e-2', '1e999', '-1e3', '0.505', '1000000.001'])(
    'for an amount written %s',
    async text => {
      const body = `{"amount":${text},"blockchainIds":["btc"],"payer":"merchant"}`;
      expectLegacyRefusal(await sendRaw(body), 'bodyInvalid', 'amount');
    },
  );

  test.each(['0.4999999999999999999', '19.99000000000000001'])(
    'for an amount with more decimals than a double has: %s',
    async text => {
      const body = `{"amount":${text},"blockchainIds":["btc"],"payer":"merchant"}`;
      const { message } = (await sendRaw(body)).json();
      expect(message).toBe('Invalid body: amount must have at most two decimals');
    },
  );

  test('the longest texts are valid', async () => {
    const redirectUrl = 'https://shop.example/'.padEnd(2048, 'x');
    expect((await create({ note: '😀'.repeat(500), redirectUrl })).statusCode).toBe(201);
  });
});

describe('400 with a message for each rule', () => {
  test('main branch missing', async () => {
    const bare = await addOlderMerchant(service, { withoutMainBranch: true });
    expectLegacyRefusal(await create({}, bare), 'mainBranchMissing');
  });

  test('redirect domains and URLs', async () => {
    const plain = await addOlderMerchant(service);
    const to = (redirectUrl: string, merchant = shop) => create({ redirectUrl }, merchant);
    expectLegacyRefusal(await to('https://shop.example/', plain), 'noRedirectDomains');
    expectLegacyRefusal(await to('nonsense', plain), 'noRedirectDomains');
    expectLegacyRefusal(await to('https://other.example/'), 'redirectDomainNotAllowed');
    expectLegacyRefusal(await to('https://www.shop.example/'), 'redirectDomainNotAllowed');
    for (const url of ['', 'nonsense', 'http://shop.example/', 'https://u:p@shop.example/']) {
      expectLegacyRefusal(await to(url), 'redirectUrlInvalid');
    }
  });

  test('addresses missing altogether, and on some networks, which it names', async () => {
    const bare = await addOlderMerchant(service, { addresses: {} });
    expectLegacyRefusal(await create({}, bare), 'noPaymentAddresses');
    const some = await create({ blockchainIds: ['btc', 'sol', 'tron', 'sol'] });
    expectLegacyRefusal(some, 'paymentAddressesMissing', ': sol, tron');
    const all = await create({ blockchainIds: [...BLOCKCHAIN_IDS] });
    expectLegacyRefusal(all, 'paymentAddressesMissing', 'avax, avax-usdt');
    expect(all.json().message).not.toMatch(/btc,/);
  });

  test('no processor for a US merchant', async () => {
    const production = {
      NODE_ENV: 'production',
      DATABASE_URL: service.databaseUrl,
      MASTER_KEY: Buffer.alloc(32).toString('base64'),
    };
    const replica = await startTestApp({ beside: service, env: production });
    const us = await addOlderMerchant(service, { kind: 'us' });
    const response = await ask(replica, us, { body: BODY }).finally(() => replica.close());
    expectLegacyRefusal(response, 'noProcessor');
  });
});

describe('404', () => {
  const read = (id: string) => ask(service, shop, { path: `${PROMPT}/${id}` });

  test.each([
    ['unknown', UUID],
    ['empty', ''],
    ['no UUID', 'x'],
    ['a UUID in braces', `{${UUID}}`],
    ['a UUID and a NUL', `${UUID}%00`],
    ['dots', '...'],
    ['a slash', 'a%2Fb'],
    ['5,000 characters', 'a'.repeat(5000)],
    ['a quote', `${UUID}'--`],
  ])('for a prompt whose ID is %s', async (_name, id) => {
    expectLegacyRefusal(await read(id), 'promptMissing');
  });

  test("for another merchant's prompt, of either contract", async () => {
    const other = await addOlderMerchant(service);
    const own = await create({}, other);
    expectLegacyRefusal(await read(own.json().prompt.id), 'promptMissing');
    const { prompt } = await createPrompt(service, other, { amount: 5000 });
    expectLegacyRefusal(await read(prompt.id), 'promptMissing');
  });

  test.each([
    ['GET', '/external'],
    ['GET', '/external/'],
    ['GET', '/external?x=1'],
    ['GET', '/external/nothing'],
    ['GET', '/external/payments'],
    ['GET', '/external/v2/payments'],
    ['GET', '/external/v1payments'],
    ['GET', '/external/partners'],
    ['GET', `${ACTIVE}/`],
    ['POST', ACTIVE],
    ['PUT', PROMPT],
    ['DELETE', `${PROMPT}/${UUID}`],
    ['POST', `${PROMPT}/${UUID}`],
  ] as const)('for the route %s %s, without asking who it is', async (method, url) => {
    const response = await service.app.inject({ method, url });
    expectLegacyRefusal(response, 'routeMissing', method);
  });

  test.each([
    ['GET', '/external/v1'],
    ['GET', '/external/v1/'],
    ['GET', '/external/v1/nothing'],
    ['DELETE', '/external/v1/payments/prompt'],
    ['GET', '/external/partner'],
    ['GET', '/external/partner/nothing'],
    ['GET', '/externals'],
    ['GET', '/nothing'],
  ] as const)('of %s %s stays in the envelope of v1', async (method, url) => {
    const response = await service.app.inject({ method, url });
    expect(response.statusCode).toBe(404);
    expect(response.json().error.errorCode).toBe('E3001');
    expect(response.headers).not.toHaveProperty('deprecation');
  });
});

describe('what is refused before any route', () => {
  async function converseRaw(request: string | Buffer) {
    const { answers } = await converse(port, request, 1);
    expect(answers).toHaveLength(1);
    if (answers[0] === undefined) throw new Error('no answer');
    return answers[0];
  }
  const authorization = () => ['Authorization', basic(shop.clientId, shop.apiKey)] as const;
  const request = (change: Partial<RawRequest>) =>
    render({
      method: 'POST',
      target: PROMPT,
      body: JSON.stringify(BODY),
      ...change,
      headers: [['Content-Type', 'application/json'], authorization(), ...(change.headers ?? [])],
    });

  test.each(['/external/%zz', '/external/payments/prompt/%ff', `http://a.example${PROMPT}/%`])(
    'the path %s',
    async target => {
      const response = await converseRaw(render({ method: 'GET', target }));
      expectLegacyRefusal(response, 'requestInvalid');
    },
  );

  test.each(['/external/v1/%zz', '/external/partner/%zz', '/%zz'])(
    'the path %s, which is not of the older contract',
    async target => {
      const { body } = await converseRaw(render({ method: 'GET', target }));
      expect(JSON.parse(body).error.errorCode).toBe('E1000');
    },
  );

  test('a missing Host', async () => {
    const text = request({})
      .toString('latin1')
      .replace(/Host: .*\r\n/, '');
    expectLegacyRefusal(await converseRaw(text), 'requestInvalid', 'Host');
  });

  test.each<[string, LegacyReason, readonly [string, string]]>([
    ['Authorization', 'authorizationMalformed', ['Authorization', 'Basic YTpi']],
    ['authorization in another case', 'authorizationMalformed', ['aUTHORIZATION', '']],
  ])('a repeated %s', async (_name, reason, header) => {
    expectLegacyRefusal(await converseRaw(request({ headers: [header] })), reason);
  });

  test('of repeated Content-Types the first counts', async () => {
    const headers = [['Content-Type', 'text/plain']] as const;
    expect((await converseRaw(request({ headers }))).statusCode).toBe(201);
  });

  test('a chunked body is valid, and one with broken chunks is refused', async () => {
    expect((await converseRaw(request({ chunks: [1, 2, 3] }))).statusCode).toBe(201);
    const text = request({ body: '', chunks: [] }).toString('latin1');
    const broken = await converseRaw(text.replace(/0\r\n\r\n$/, 'zz\r\n'));
    expectLegacyRefusal(broken, 'requestInvalid', 'HTTP');
  });

  test('the body of an unauthenticated request is not waited for', async () => {
    const head = render({ method: 'POST', target: PROMPT, headers: [['Content-Length', '60000']] });
    expectLegacyRefusal(await converseRaw(head), 'authorizationMissing');
  });
});

test('none of it was a failure of the service, and no refusal left a payment behind', async () => {
  const failed = service.logs.filter(
    ({ level, status }) => level === 'error' || Number(status) >= 500,
  );
  expect(failed).toEqual([]);
  const created = service.logs.filter(({ status }) => status === 201).length;
  expect((await countWritten(service.db)).payments).toBe(created);
});
