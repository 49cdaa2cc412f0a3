import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { setMerchant } from '#accounts/merchants.ts';
import { addKey, addMerchant, type MerchantWithKey, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { type Answer, expectRefusal } from '../../helpers/refusal.ts';
import { type Delivery, deliver } from '../../http/authentication/subject.ts';

/** Per minute; as small as possible, since every request counts. */
const LIMIT = 12;
const WRONG_SIGNATURE = { 'x-mp-signature': '0'.repeat(64) };

/** Owns the database; each test has its own replica, which has counted nothing yet. */
let keeper: TestApp;
let service: TestApp;
let shop: MerchantWithKey;

beforeAll(async () => {
  keeper = await startTestApp();
});
afterAll(() => keeper.close());

beforeEach(async () => {
  service = await startTestApp({ beside: keeper, env: { RATE_LIMIT_MAX: String(LIMIT) } });
  shop = await addMerchant(service);
});
afterEach(() => service.close());

function advance(seconds: number): void {
  service.clock.now += seconds * 1000;
}

const send = (change: Partial<Delivery> = {}) =>
  deliver(service, {
    credentials: shop,
    parts: { method: 'GET', path: '/external/v1/payments', body: '' },
    ...change,
  });
const open = (url: string, remoteAddress = '127.0.0.1') =>
  service.app.inject({ url, remoteAddress });

async function repeat(times: number, request: () => Promise<Answer>): Promise<Answer[]> {
  const answers = [];
  for (let time = 0; time < times; time++) answers.push(await request());
  return answers;
}

function expectAll(answers: Answer[], status: number): void {
  expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([status]));
}

function expectLimited(answer: Answer, retryAfter: number): void {
  expectRefusal(answer, 'E9001');
  expect(answer.headers['retry-after']).toBe(String(retryAfter));
}

describe('a key', () => {
  test('may send as many requests in 60 seconds as its limit allows, and the same again after them', async () => {
    const [allowed] = await repeat(1, send);
    expect(allowed?.statusCode).toBe(200);
    expect(Object.keys(allowed?.headers ?? {}).filter(name => /rate/.test(name))).toEqual([]);
    advance(10);
    expectAll(await repeat(LIMIT - 1, send), 200);
    const refused = await send();
    expectLimited(refused, 50);
    expect(refused.headers).toMatchObject({
      'ratelimit-policy': `"key";q=${LIMIT};w=60`,
      ratelimit: '"key";r=0;t=50',
    });
    advance(49);
    expectLimited(await send(), 1);
    advance(1);
    expectAll(await repeat(LIMIT, send), 200);
    expectLimited(await send(), 60);
  });

  test('may send 60 requests in 60 seconds where nothing else is configured', async () => {
    const usual = await startTestApp({ beside: keeper, env: { RATE_LIMIT_MAX: '' } });
    const parts = { method: 'GET', path: '/external/v1/blockchains/active', body: '' } as const;
    const sendUsual = () => deliver(usual, { credentials: shop, parts });
    expectAll(await repeat(60, sendUsual), 200);
    expectLimited(await sendUsual(), 60);
    await usual.close();
  });

  test('shares its allowance with no other key, even of the same account', async () => {
    const other = await addKey(service, { merchantId: shop.merchant.id });
    expectAll(await repeat(LIMIT, send), 200);
    expectLimited(await send(), 60);
    expectAll(await repeat(LIMIT, () => send({ credentials: other })), 200);
  });

  test('uses up its allowance from all addresses together, and none of theirs', async () => {
    let host = 0;
    const anywhere = () => send({ address: `10.0.0.${++host}` });
    expectAll(await repeat(LIMIT, anywhere), 200);
    expectLimited(await anywhere(), 60);
    expectAll(await repeat(1, () => open('/docs/errors')), 200);
  });

  test('loses nothing to a client that knows only its ID', async () => {
    const attack = () => send({ headers: WRONG_SIGNATURE, address: '203.0.113.9' });
    const answers = await repeat(2 * LIMIT, attack);
    for (const answer of answers.slice(0, LIMIT)) expectRefusal(answer, 'E2007');
    for (const answer of answers.slice(LIMIT)) expectRefusal(answer, 'E9001');
    expectAll(await repeat(LIMIT, send), 200);
  });

  test('is limited before its nonce is claimed, and before its account is checked', async () => {
    const nonce = 'used';
    await send({ nonce });
    expectAll(await repeat(LIMIT - 1, send), 200);
    await setMerchant(operatorOf(service), shop.merchant.id, { status: 'inactive' });
    expectLimited(await send({ nonce }), 60);
    expectRefusal(await send(), 'E9001');
  });

  test('stores no nonce of a request that its limit refuses, and charges no address for it', async () => {
    const stored = async () => {
      const { rows } = await sql<{ count: number }>`select count(*) as count from nonces`.execute(
        service.db,
      );
      return rows[0]?.count;
    };
    expectAll(await repeat(LIMIT, send), 200);
    const before = await stored();
    for (const answer of await repeat(2 * LIMIT, send)) expectRefusal(answer, 'E9001');
    expect(await stored()).toBe(before);
    const other = await addKey(service, { merchantId: shop.merchant.id });
    expectAll([await send({ credentials: other })], 200);
  });

  test('may send nonces of any length, which take the same space', async () => {
    const lengths = async () => {
      const { rows } = await sql<{ length: number }>`
        select distinct length(nonce) as length from nonces`.execute(service.db);
      return rows;
    };
    expectAll([await send({ nonce: 'n' }), await send({ nonce: 'n'.repeat(255) })], 200);
    expect(await lengths()).toEqual([{ length: 43 }]);
  });

  test('has a separate allowance in each replica', async () => {
    const replica = await startTestApp({ beside: service, env: { RATE_LIMIT_MAX: String(LIMIT) } });
    try {
      expectAll(await repeat(LIMIT, send), 200);
      expectLimited(await send(), 60);
      const answer = await deliver(replica, {
        credentials: shop,
        parts: { method: 'GET', path: '/external/v1/payments', body: '' },
      });
      expect(answer.statusCode).toBe(200);
    } finally {
      await replica.close();
    }
  });
});

describe('an address', () => {
  const fail = () => send({ headers: { 'x-mp-passphrase': 'wrong' } });

  test('that has failed as often as its limit allows is refused before anything else, even with valid credentials', async () => {
    for (const answer of await repeat(LIMIT, fail)) expectRefusal(answer, 'E2004');
    advance(20);
    expectLimited(await fail(), 40);
    expectLimited(await send(), 40);
    expectLimited(await send({ headers: { 'x-mp-key-id': undefined } }), 40);
    expectAll([await send({ address: '127.0.0.2' })], 200);
    advance(40);
    expectAll([await send()], 200);
  });

  test.each([
    ['a missing header', { 'x-mp-nonce': undefined }],
    ['a bad timestamp', { 'x-mp-timestamp': 'soon' }],
    ['a wrong signature', WRONG_SIGNATURE],
  ])('is charged for %s', async (_name, headers) => {
    await repeat(LIMIT, () => send({ headers }));
    expectLimited(await send(), 60);
  });

  test('is charged for a used nonce', async () => {
    await repeat(LIMIT + 1, () => send({ nonce: 'used' }));
    expectLimited(await send(), 60);
  });

  test('gets no more responses than its limit by sending all requests at once', async () => {
    const answers = await Promise.all(Array.from({ length: 2 * LIMIT }, fail));
    const codes = answers.map(answer => answer.json().error.errorCode);
    expect(codes.filter(code => code === 'E2004')).toHaveLength(LIMIT);
    expect(codes.filter(code => code === 'E9001')).toHaveLength(LIMIT);
  });

  test('is charged for pages, unknown routes and unreadable paths together', async () => {
    expectAll(await repeat(LIMIT / 3, () => open('/docs/errors/E1000')), 200);
    expectAll(await repeat(LIMIT / 3, () => open('/external/v1/nothing')), 404);
    expectAll(await repeat(LIMIT / 3, () => open('/external/v1/payments/%zz')), 400);
    for (const url of [
      '/docs',
      '/docs/errors',
      '/openapi.json',
      '/client.tgz',
      '/client.py.tar.gz',
      '/signing-vectors.json',
      '/nothing',
      '/%zz',
    ]) {
      expectLimited(await open(url), 60);
    }
    advance(60);
    expectAll([await open('/docs/errors')], 200);
  });

  test('uses up none of its API allowance by reading pages, and vice versa', async () => {
    expectAll(await repeat(LIMIT, () => open('/docs/errors')), 200);
    const page = await open('/docs/errors');
    expectLimited(page, 60);
    expect(page.headers.ratelimit).toBe('"page";r=0;t=60');
    expectRefusal(await fail(), 'E2004');
    expectAll([await send()], 200);
    for (const answer of await repeat(LIMIT - 1, fail)) expectRefusal(answer, 'E2004');
    expectLimited(await send(), 60);
    expectAll([await open(`/checkout/${'a'.repeat(43)}`)], 404);
  });

  test('is not charged for health checks', async () => {
    expectAll(await repeat(LIMIT, () => open('/nothing')), 404);
    for (const url of ['/healthz', '/readyz']) {
      expectAll(await repeat(2 * LIMIT, () => open(url)), 200);
    }
    expectLimited(await open('/nothing'), 60);
  });

  test('of IPv6 counts as its /64 network, and a mapped IPv4 address as that address', async () => {
    let host = 0;
    const inNetwork = () => open('/nothing', `2001:db8:0:1::${(++host).toString(16)}`);
    expectAll(await repeat(LIMIT, inNetwork), 404);
    expectLimited(await inNetwork(), 60);
    expectAll([await open('/nothing', '2001:db8:0:2::1')], 404);

    expectAll(await repeat(LIMIT, () => open('/nothing', '::ffff:192.0.2.1')), 404);
    expectLimited(await open('/nothing', '192.0.2.1'), 60);
    expectAll([await open('/nothing', '192.0.2.2')], 404);
  });
});

/** Opens a page through a proxy at 10.0.0.1 that forwards the client's address. */
function openThroughProxy(
  { app }: TestApp,
  forwarded: string,
  header = 'x-forwarded-for',
  url = '/nothing',
) {
  return app.inject({
    url,
    remoteAddress: '10.0.0.1',
    headers: { [header]: forwarded },
  });
}

/** Runs an application with a limit of one request; returns the addresses in its log. */
async function behindProxy(env: Record<string, string>, ask: (app: TestApp) => Promise<void>) {
  const proxied = await startTestApp({ beside: service, env: { RATE_LIMIT_MAX: '1', ...env } });
  try {
    await ask(proxied);
    const warnings = proxied.logs.filter(({ level }) => level === 'warn');
    const requests = proxied.logs.filter(({ msg }) => msg === 'request');
    return { warnings, addresses: requests.map(({ address }) => address) };
  } finally {
    await proxied.close();
  }
}

test.each([
  [undefined, '10.0.0.1'],
  ['10.0.0.1', '198.51.100.1'],
  ['uniquelocal', '198.51.100.1'],
  ['1', '198.51.100.1'],
])('with TRUST_PROXY %s the client behind 10.0.0.1 is %s', async (trusted, client) => {
  const { addresses } = await behindProxy(
    trusted === undefined ? {} : { TRUST_PROXY: trusted },
    async proxied => {
      const ask = (forwarded: string) => openThroughProxy(proxied, forwarded);
      expect((await ask('198.51.100.1')).statusCode).toBe(404);
      // A header from the client comes before what the proxy appends.
      expect((await ask('203.0.113.7, 198.51.100.1')).statusCode).toBe(429);
      const unreadable = openThroughProxy(proxied, '198.51.100.3', undefined, '/%zz');
      expect((await unreadable).statusCode).toBe(trusted === undefined ? 429 : 400);
      expect((await ask('198.51.100.2')).statusCode).toBe(trusted === undefined ? 429 : 404);
    },
  );
  expect(addresses[0]).toBe(client);
});

test('addresses with ports count as one client each, in both headers', async () => {
  const client = '203.0.113.7';
  const forms = {
    'x-forwarded-for': [
      [`${client}:51234`, client],
      [`1.2.3.4, ${client}:443, 10.0.0.2:80`, client],
      ['[2001:db8::7]:51234', '2001:db8::7'],
      ['[2001:db8::8]', '2001:db8::8'],
      ['2001:db8::9', '2001:db8::9'],
      ['for=203.0.113.7', '10.0.0.1'],
    ],
    forwarded: [
      [`for=${client}`, client],
      [`for=1.2.3.4;by="open, For="${client}:51234";proto=https , for=10.0.0.2`, client],
      ['proto=https; for="[2001:db8::7]:_port"', '2001:db8::7'],
      ['for=_hidden', '10.0.0.1'],
      ['for=1.2.3.4, by=203.0.113.43', '10.0.0.1'],
      [`for="1.2.3.4, ${client}`, '10.0.0.1'],
    ],
  } as const;
  for (const [header, reports] of Object.entries(forms)) {
    const env = { TRUST_PROXY: '10.0.0.0/8', TRUST_PROXY_HEADER: header };
    const { addresses } = await behindProxy(env, async proxied => {
      for (const [forwarded] of reports) await openThroughProxy(proxied, forwarded, header);
      const other = header === 'forwarded' ? 'x-forwarded-for' : 'forwarded';
      await openThroughProxy(proxied, header === 'forwarded' ? client : `for=${client}`, other);
    });
    expect(addresses).toEqual([...reports.map(([, address]) => address), '10.0.0.1']);
  }
});

test('a forwarded value that is no IP address is ignored, which is logged once', async () => {
  const { addresses, warnings } = await behindProxy({ TRUST_PROXY: '10.0.0.1' }, async proxied => {
    const ask = (forwarded: string) => openThroughProxy(proxied, forwarded);
    expect((await ask('unknown')).statusCode).toBe(404);
    expect((await ask('n'.repeat(8_000))).statusCode).toBe(429);
    expect((await ask(`2001:db8::1%${'n'.repeat(7_000)}`)).statusCode).toBe(429);
  });
  expect(addresses).toEqual(Array(3).fill('10.0.0.1'));
  expect(warnings).toMatchObject([
    { proxy: '10.0.0.1', header: 'x-forwarded-for', entry: 'unknown' },
  ]);
});
