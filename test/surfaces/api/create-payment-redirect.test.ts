import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addMerchant, type MerchantWithKey } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { countWritten, createPrompt, expectRefusal, requestPrompt } from '../../helpers/prompts.ts';
import { watchNetworks } from '../../helpers/watch-networks.ts';

const PRODUCTION = {
  NODE_ENV: 'production',
  DATABASE_URL: 'postgres://never.used.test/db',
  MASTER_KEY: randomBytes(32).toString('base64'),
};

let development: TestApp;
let production: TestApp;
let shop: MerchantWithKey;
let local: MerchantWithKey;

beforeAll(async () => {
  development = await startTestApp();
  production = await startTestApp({ beside: development, env: PRODUCTION });
  await watchNetworks(development.db);
  shop = await addMerchant(development, { domains: ['shop.example.com', 'xn--bcher-kva.example'] });
  local = await addMerchant(development, { domains: ['localhost', '127.0.0.1', '[::1]'] });
});
afterAll(async () => {
  await production.close();
  await development.close();
});

type Key = MerchantWithKey;
const create = (key: Key, redirectUrl: string, service = development) =>
  createPrompt(service, key, { amount: 5000, redirectUrl });

async function refuses(
  key: Key,
  redirectUrl: string,
  errorCode: 'E1010' | 'E1011' | 'E1012',
  service = development,
) {
  const before = await countWritten(service.db);
  const response = await requestPrompt(service, key, { amount: 5000, redirectUrl });
  expectRefusal(response, errorCode, 'redirectUrl');
  expect(await countWritten(service.db)).toEqual(before);
}

describe('accepted, and echoed as sent', () => {
  test.each([
    'https://shop.example.com',
    'https://shop.example.com/',
    'https://shop.example.com/order/7?a=1&b=%20#top',
    'https://shop.example.com:8443/',
    'https://SHOP.Example.COM/Path',
    'HTTPS://shop.example.com/',
    'https://shop.example.com/@user:password',
    'https://shop.example.com/?next=http://other.example/',
    'https://bücher.example/köln',
    'https://xn--bcher-kva.example/',
  ])('%s', async url => {
    const { prompt } = await create(shop, url);
    expect(prompt.redirectUrl).toBe(url);
  });
});

describe('the three refusals, in order', () => {
  test('E1010 without any domain, even for what is no URL', async () => {
    const merchant = await addMerchant(development);
    for (const url of ['https://shop.example.com/', 'nonsense', '']) {
      await refuses(merchant, url, 'E1010');
    }
  });

  test.each([
    '',
    'nonsense',
    'shop.example.com',
    '//shop.example.com/',
    '/thanks',
    'http://shop.example.com/',
    'ftp://shop.example.com/',
    'javascript:alert(1)//shop.example.com',
    'data:text/html,shop.example.com',
    'https:shop.example.com',
    'https:/shop.example.com/',
    'https:///shop.example.com/',
    'https://',
    'https://shop.example.com:65536/',
    'https://shop.example.com:port/',
    'https://user@shop.example.com/',
    'https://user:password@shop.example.com/',
    'https://@shop.example.com/',
    'https://:@shop.example.com/',
    'https://shop.example.com@other.example/',
    'https://shop.example.com\\@other.example/',
    'https:\\\\shop.example.com/',
    'https://shop.example.com/\\..',
    ' https://shop.example.com/',
    'https://shop.example.com/ ',
    'https://shop.exa\tmple.com/',
    'https://shop.example.com/a b',
    'https://shop.example.com/\nSet-Cookie: a=b',
    'https://shop.example.com/\u0085',
    'https://[shop.example.com]/',
    'https://shop..example.com:x/',
  ])('E1011 for %j', url => refuses(shop, url, 'E1011'));

  test.each([
    'https://other.example/',
    'https://example.com/',
    'https://www.shop.example.com/',
    'https://shop.example.com./',
    'https://shop.example.com.evil.example/',
    'https://evilshop.example.com/',
    'https://shop-example.com/',
    'https://xn--bcher-kvb.example/',
    'https://203.0.113.7/',
    'https://localhost/',
  ])('E1012 for %s', url => refuses(shop, url, 'E1012'));

  test('E1011 before E1012', () => refuses(shop, 'http://other.example/', 'E1011'));
});

describe('loopback over plain HTTP', () => {
  const urls = ['http://localhost:3000/done', 'http://127.0.0.1/', 'http://[::1]:8080/'];

  test.each(urls)('%s is accepted outside production where it is allowed', async url => {
    await create(local, url);
    await refuses(shop, url, 'E1012');
  });

  test.each(urls)('%s is refused in production', async url => {
    await refuses(local, url, 'E1011', production);
    await refuses(shop, url, 'E1011', production);
  });

  test('other hosts never', async () => {
    for (const url of ['http://localhost.example/', 'http://127.0.0.2/', 'http://0.0.0.0/']) {
      await refuses(local, url, 'E1011');
    }
  });

  test('production accepts https as always', async () => {
    await create(shop, 'https://shop.example.com/', production);
    await refuses(shop, 'https://other.example/', 'E1012', production);
  });
});

test('the rules hold on US accounts too', async () => {
  const us = await addMerchant(development, { kind: 'us', domains: ['shop.example.com'] });
  await create(us, 'https://shop.example.com/');
  await refuses(us, 'http://shop.example.com/', 'E1011');
  await refuses(us, 'https://other.example/', 'E1012');
  await refuses(await addMerchant(development, { kind: 'us' }), 'https://a.example/', 'E1010');
});
