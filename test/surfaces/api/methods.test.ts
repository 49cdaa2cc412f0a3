import type { RouteOptions } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setMerchant } from '#accounts/merchants.ts';
import { type Credentials, signingHeaders } from '#client/index.ts';
import {
  addMerchant,
  addPartner,
  type MerchantWithKey,
  operatorOf,
} from '../../helpers/accounts.ts';
import type { TestApp } from '../../helpers/app.ts';
import { openCheckout } from '../../helpers/checkout.ts';
import { addMerchantUser, HOST } from '../../helpers/panel.ts';
import { addPayment } from '../../helpers/payments.ts';
import { expectRefusal } from '../../helpers/refusal.ts';
import { startWithRoutes } from '../../helpers/registered-routes.ts';

const LIST = '/external/v1/payments';

let service: TestApp;
let shop: MerchantWithKey;
let registered: RouteOptions[];

beforeAll(async () => {
  ({ service, registered } = await startWithRoutes());
  shop = await addMerchant(service);
});
afterAll(() => service.close());

type Method = 'GET' | 'HEAD' | 'POST' | 'DELETE';

function sign(credentials: Credentials, method: Method, path: string, body?: string) {
  return signingHeaders(credentials, { method, path, body, now: service.clock() });
}

const ask = (method: Method, url: string, headers: Record<string, string> = {}) =>
  service.app.inject({ method, url, headers: { host: HOST, ...headers } });

test('every GET has a HEAD with the same requirements, and every HEAD has a GET', () => {
  const named = (method: string) =>
    registered
      // Of the two paths of a prefix, only one is registered for GET.
      .filter(route => route.method === method && route.url !== '/panel')
      .map(({ url, config }) => JSON.stringify([url, config?.access, config?.panel]))
      .sort();
  expect(named('HEAD').length).toBeGreaterThan(30);
  expect(named('HEAD')).toEqual(named('GET'));
});

test('HEAD has the headers of GET and no body, on pages and in the API', async () => {
  await addPayment(service.db, shop.merchant, { created_at: new Date(service.clock.now) });
  const { path } = await openCheckout(service, shop);
  const html = { accept: 'text/html' };
  for (const [url, headers] of [
    ['/healthz', {}],
    ['/', html],
    ['/docs/quickstart', html],
    ['/openapi.json', {}],
    [path, html],
    ['/panel/sign-in', html],
  ] as const) {
    const [get, head] = [await ask('GET', url, headers), await ask('HEAD', url, headers)];
    expect(get.statusCode, url).toBe(200);
    expect(head.statusCode, url).toBe(200);
    expect(head.body).toBe('');
    for (const name of ['content-type', 'content-length', 'cache-control'] as const) {
      expect(head.headers[name], `${url} ${name}`).toBe(get.headers[name]);
    }
  }
  const [get, head] = [
    await ask('GET', LIST, sign(shop, 'GET', LIST)),
    await ask('HEAD', LIST, sign(shop, 'HEAD', LIST)),
  ];
  expect(head.statusCode).toBe(200);
  expect(head.body).toBe('');
  expect(head.headers['content-length']).toBe(get.headers['content-length']);
});

test('HEAD is authenticated as it was sent, and its nonce counts once', async () => {
  expect((await ask('HEAD', LIST)).statusCode).toBe(401);
  expect((await ask('HEAD', LIST, sign(shop, 'GET', LIST))).statusCode).toBe(401);
  expect((await ask('GET', LIST, sign(shop, 'HEAD', LIST))).statusCode).toBe(401);
  const signed = sign(shop, 'HEAD', LIST);
  expect((await ask('HEAD', LIST, signed)).statusCode).toBe(200);
  expect((await ask('HEAD', LIST, signed)).statusCode).toBe(401);
  expect(service.logs.at(-1)).toMatchObject({ method: 'HEAD', errorCode: 'E2009' });
});

test('HEAD of a file creates no file', async () => {
  const { cookie } = await addMerchantUser(service, shop.merchant.id, 'admin');
  const url = `/panel/merchants/${shop.merchant.id}/payments.csv`;
  const headers = { cookie, 'sec-fetch-site': 'same-origin' };
  for (let asked = 0; asked < 10; asked++) {
    const head = await ask('HEAD', url, headers);
    expect(head.statusCode).toBe(200);
    expect(head.headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(head.body).toBe('');
  }
  const audited = await service.db
    .selectFrom('audit_log')
    .select('id')
    .where('action', '=', 'payment.export')
    .execute();
  expect(audited).toEqual([]);
  expect((await ask('GET', url, headers)).statusCode).toBe(200);
});

test('HEAD of evidence creates no evidence', async () => {
  const { cookie } = await addMerchantUser(service, shop.merchant.id, 'admin');
  const { id } = await addPayment(service.db, shop.merchant, {
    created_at: new Date(service.clock.now),
  });
  const url = `/panel/merchants/${shop.merchant.id}/payments/${id}/evidence.json`;
  const headers = { cookie, 'sec-fetch-site': 'same-origin' };
  const countAudited = async () =>
    (
      await service.db
        .selectFrom('audit_log')
        .select('id')
        .where('action', '=', 'payment.evidence')
        .execute()
    ).length;
  const head = await ask('HEAD', url, headers);
  expect(head.statusCode).toBe(200);
  expect(head.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(head.headers['content-disposition']).toContain(`evidence-${id}.json`);
  expect(head.body).toBe('');
  expect(await countAudited()).toBe(0);
  expect((await ask('GET', url, headers)).json().evidence.payment.id).toBe(id);
  expect(await countAudited()).toBe(1);
});

test.each([
  ['/checkout/assets/x/style.css', 'GET, HEAD'],
  [`/checkout/${'x'.repeat(43)}/cancel`, 'GET, HEAD, POST'],
  ['/processor/done', 'GET, HEAD'],
  ['/processor/notifications/stripe', 'POST'],
  ['/panel', 'GET, HEAD'],
  ['/panel/sign-in', 'GET, HEAD, POST'],
  ['/panel/sign-out', 'POST'],
  ['/panel/merchants/x/payments', 'GET, HEAD'],
  ['/.well-known/jwks.json', 'GET, HEAD'],
])('another method on the page %s is 405 and Allow', async (url, allow) => {
  const answer = await ask('DELETE', url, { accept: 'text/html' });
  expect(answer.statusCode).toBe(405);
  expect(answer.headers.allow).toBe(allow);
});

test('the refusal of a key of the wrong kind says which kind the route takes, also for an inactive account', async () => {
  const partner = await addPartner(service);
  const get = async (credentials: Credentials, path: string) =>
    expectRefusal(await ask('GET', path, sign(credentials, 'GET', path)), 'E2008').message;
  expect(await get(partner, LIST)).toBe('This route takes a merchant key; this is a partner key.');
  const overview = '/external/partner/overview';
  const message = 'This route takes a partner key; this is a merchant key.';
  expect(await get(shop, overview)).toBe(message);
  const idle = await addMerchant(service);
  await setMerchant(operatorOf(service), idle.merchant.id, { status: 'inactive' });
  expect(await get(idle, overview)).toBe(message);
  expect(await get(idle, LIST)).toBe('The merchant is inactive.');
});

test.each([
  ['{"amuont":5000}', 'amount is required. The body has "amuont" instead.'],
  [
    '{"amount":5000,"redirect_url":""}',
    'The body has an unknown field "redirect_url". Did you mean "redirectUrl"?',
  ],
  ['{"amount":5000,"payer":"x"}', 'The body has an unknown field "payer".'],
])('the error for the body %s suggests the intended field', async (body, message) => {
  const path = `${LIST}/prompt`;
  const answer = await service.app.inject({
    method: 'POST',
    url: path,
    headers: { ...sign(shop, 'POST', path, body), 'content-type': 'application/json' },
    payload: body,
  });
  const { errorCode, param } = JSON.parse(answer.body).error;
  expect(expectRefusal(answer, errorCode, param).message).toBe(message);
});

test('the error for a query suggests the intended parameter', async () => {
  for (const [query, message] of [
    ['limt=5', 'The query has an unknown field "limt". Did you mean "limit"?'],
    [
      'starting_after=x',
      'The query has an unknown field "starting_after". Did you mean "startingAfter"?',
    ],
    [`${'x'.repeat(500)}=1`, `The query has an unknown field "${'x'.repeat(64)}…".`],
  ] as const) {
    const path = `${LIST}?${query}`;
    const answer = await ask('GET', path, sign(shop, 'GET', path));
    expect(expectRefusal(answer, 'E1002', query.split('=')[0]).message).toBe(message);
  }
});
