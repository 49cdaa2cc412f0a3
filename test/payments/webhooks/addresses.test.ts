import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { isAddressAllowed } from '#outbound/address-guard.ts';
import { parseEndpointUrl } from '#payments/webhooks/endpoint-url.ts';
import { cloneDatabase, type TestDatabase } from '../../helpers/database.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { openShop, type Shop } from './shop.ts';

let database: TestDatabase;
let shop: Shop;
let receiver: Receiver;
beforeAll(async () => {
  database = await cloneDatabase();
});
beforeEach(async () => {
  [shop, receiver] = await Promise.all([openShop(database), startReceiver()]);
});
afterEach(() => receiver.close());
afterAll(() => database.drop());

const LOCAL = [
  '127.0.0.1',
  '127.255.255.254',
  '10.0.0.1',
  '10.255.255.255',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.0.1',
  '::1',
  'fc00::1',
  'fd12:3456:789a::1',
];

const REFUSED = [
  '0.0.0.0',
  '0.1.2.3',
  '100.64.0.1',
  '100.127.255.255',
  '169.254.0.1',
  '169.254.169.254',
  '192.0.0.8',
  '192.0.2.1',
  '192.88.99.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::127.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:8.8.8.8',
  '::ffff:0:127.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b::8.8.8.8',
  '64:ff9b:1::1',
  '100::1',
  '2001::1',
  '2001:10::1',
  '2001:20::1',
  '2001:db8::1',
  '2002:7f00:1::',
  '3fff::1',
  '5f00::1',
  'fe80::1',
  'fe80::1%eth0',
  '2606:4700::1%eth0',
  'fec0::1',
  'ff02::1',
  '',
  'localhost',
];

const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.167.255.255',
  '192.169.0.0',
  '223.255.255.255',
  '2001:4860:4860::8888',
  '2606:4700:4700::1111',
  '2a00:1450::1',
];

test('local addresses are allowed in development only, special ones never', () => {
  const allowed = (addresses: string[], local: boolean) =>
    addresses.filter(address => isAddressAllowed(address, local));
  expect(allowed(LOCAL, false)).toEqual([]);
  expect(allowed(LOCAL, true)).toEqual(LOCAL);
  expect(allowed(REFUSED, false)).toEqual([]);
  expect(allowed(REFUSED, true)).toEqual([]);
  expect(allowed(PUBLIC, false)).toEqual(PUBLIC);
});

/** Sends to `https://host:port` as production does; returns what is logged about it. */
async function refusal(host: string, resolve?: (name: string) => Promise<readonly string[]>) {
  const { port } = new URL(receiver.url);
  await shop.addEndpoint('https://shop.example.com');
  await shop.db
    .updateTable('webhook_endpoints')
    .set({ url: new URL(`https://${host}:${port}/`).href })
    .where('merchant_id', '=', shop.merchant.id)
    .execute();
  await shop.tell();
  await shop.attemptAll({ allowPrivateAddresses: false, ...(resolve && { resolve }) });
  expect(receiver.requests).toEqual([]);
  const [delivery] = await shop.deliveries();
  // Like any failure: not retried before its time.
  expect(delivery).toMatchObject({ status: 'pending', attempts: 1 });
  expect(delivery?.next_attempt_at?.getTime()).toBeGreaterThan(shop.clock() + 4_000);
  const [attempt] = await shop.attempts();
  const line = shop.logs.find(({ msg }) => msg === 'webhook address refused');
  return { error: attempt?.error, line };
}

test.each([...LOCAL, ...REFUSED.filter(address => address !== '' && address !== 'localhost')])(
  'a name that resolves to %s is refused, and logged',
  async address => {
    const { error, line } = await refusal('shop.example.com', async () => [address]);
    expect(error).toBe('shop.example.com is not at a public address');
    expect(line).toMatchObject({
      level: 'warn',
      hostname: 'shop.example.com',
      addresses: [address],
    });
  },
);

test.each([
  ['127.0.0.1', '127.0.0.1'],
  ['127.1', '127.0.0.1'],
  ['0x7f.1', '127.0.0.1'],
  ['2130706433', '127.0.0.1'],
  ['0177.0.0.1', '127.0.0.1'],
  ['127.0.0.1.', '127.0.0.1'],
  ['①②⑦.0.0.1', '127.0.0.1'],
  ['0', '0.0.0.0'],
  ['169.254.169.254', '169.254.169.254'],
  ['[::1]', '::1'],
  ['[0:0:0:0:0:ffff:127.0.0.1]', '::ffff:7f00:1'],
  ['[fe80::1]', 'fe80::1'],
])('the host %s is refused', async (host, address) => {
  const never = () => Promise.reject(new Error('was looked up'));
  const { error, line } = await refusal(host, never);
  expect(error).toBe(`${address} is not at a public address`);
  expect(line).toMatchObject({ addresses: [address] });
});

test('localhost is refused without a DNS query', async () => {
  for (const host of ['localhost', 'localhost.', 'api.localhost']) {
    const { error, line } = await refusal(host);
    expect(error).toMatch(/ is not at a public address$/);
    expect(line).toMatchObject({ addresses: ['127.0.0.1', '::1'] });
    shop = await openShop(database);
  }
});

test('a name is resolved once: a second resolution cannot lead elsewhere', async () => {
  await shop.addEndpoint(receiver.url.replace('127.0.0.1', 'rebinding.example.com'));
  await shop.tell();
  const asked: string[] = [];
  const answers = [['203.0.113.1'], ['127.0.0.1']];
  const resolve = async (name: string) => {
    asked.push(name);
    return answers.shift() ?? [];
  };
  await shop.attemptAll({ resolve });
  expect(asked).toEqual(['rebinding.example.com']);
  expect(receiver.requests).toEqual([]);
  // Each attempt resolves the name again, and is checked again.
  await shop.attemptAll({ resolve });
  expect(asked).toHaveLength(2);
  expect(receiver.requests).toHaveLength(1);
  expect(receiver.requests[0]?.headers.host).toMatch(/^rebinding\.example\.com:\d+$/);
});

test('of several addresses only those allowed are connected to', async () => {
  await shop.addEndpoint(receiver.url.replace('127.0.0.1', 'mixed.example.com'));
  await shop.tell();
  await shop.attemptAll({ resolve: async () => ['169.254.169.254', 'fe80::1', '127.0.0.1'] });
  expect(receiver.requests).toHaveLength(1);
});

test('a name that does not resolve is a failed attempt', async () => {
  await shop.addEndpoint('https://gone.example.com');
  await shop.tell();
  const failure = Object.assign(new Error('queryA ENOTFOUND gone.example.com'), {
    code: 'ENOTFOUND',
  });
  await shop.attemptAll({ resolve: () => Promise.reject(failure) });
  await shop.attemptAll({ resolve: async () => [] });
  expect(await shop.attempts()).toMatchObject([
    { error: 'queryA ENOTFOUND gone.example.com' },
    { error: 'gone.example.com is not at a public address' },
  ]);
});

test('the URL of an endpoint is refused with the reason', () => {
  for (const [url, reason] of [
    ['shop.example.com', 'it is not a URL'],
    ['http://shop.example.com', 'it has to begin with https://'],
    ['ftp://shop.example.com', 'it has to begin with https://'],
    ['https://user:pass@shop.example.com', 'it must not hold a user'],
    ['https://shop.example.com/#part', 'a fragment'],
    [`https://shop.example.com/${'x'.repeat(2048)}`, 'longer than 2048'],
    ['https://0x7f.1/', '127.0.0.1 is not a public address'],
    ['https://[::1]/', '::1 is not a public address'],
  ] as const) {
    expect(() => parseEndpointUrl(url, false)).toThrow(reason);
  }
  expect(parseEndpointUrl('HTTPS://Shop.Example.com', false)).toBe('https://shop.example.com/');
  expect(parseEndpointUrl('http://localhost:3001/a?b', true)).toBe('http://localhost:3001/a?b');
  expect(() => parseEndpointUrl('http://169.254.169.254/', true)).toThrow('not a public address');
});
