import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addMerchant } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { addMerchantUser, HOST, open, submit, textOf } from '../../helpers/panel.ts';
import { converse } from '../../helpers/raw-http.ts';

const PANEL = 'panel.example.test';
const BROWSER = 'text/html,*/*;q=0.8';

/** A panel on its own host, and one on the API's host. */
let apart: TestApp;
let shared: TestApp;
let port: number;

beforeAll(async () => {
  [apart, shared] = await Promise.all([
    startTestApp({ env: { PANEL_URL: `https://${PANEL}` } }),
    startTestApp(),
  ]);
  await apart.app.listen({ host: '127.0.0.1', port: 0 });
  ({ port } = apart.app.server.address() as AddressInfo);
});
afterAll(() => Promise.all([apart.close(), shared.close()]));

async function ask(target: string, host: string, accept = BROWSER) {
  const head = `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nAccept: ${accept}\r\nConnection: close\r\n\r\n`;
  const { answers } = await converse(port, head);
  if (answers[0] === undefined) throw new Error(`no answer to ${target}`);
  return answers[0];
}

test.each([
  ...['/panel/sign-in', '/%70anel/sign-in', '/pane%6C/sign-in?x', '/%70%61%6E%65%6C/sign-in'],
  ...[`http://${HOST}/panel/sign-in`, `HTTPS://${HOST}/%70anel/sign-in`],
])('on another host %s is no path of the panel', async target => {
  for (const host of [HOST, 'x.example', `${PANEL}.evil.example`, `${PANEL}:8443`]) {
    const { statusCode, body } = await ask(target, host);
    expect(statusCode).toBe(404);
    expect(body).not.toContain('type="password"');
    expect(body).not.toContain('/panel/assets/');
  }
});

test('a refusal on another host has none of the panel’s headers', async () => {
  for (const accept of [BROWSER, 'application/json']) {
    const { headers } = await ask('/panel/sign-in', HOST, accept);
    expect(headers).not.toHaveProperty('cross-origin-opener-policy');
    expect(headers).not.toHaveProperty('cross-origin-resource-policy');
  }
});

test('above the limit each host still responds in its own format', async () => {
  const env = { PANEL_URL: `https://${PANEL}`, RATE_LIMIT_MAX: '1' };
  const limited = await startTestApp({ env });
  const get = (url: string, host: string) =>
    limited.app.inject({ url, headers: { host, accept: BROWSER } });
  expect((await get('/panel/sign-in', HOST)).statusCode).toBe(404);
  const elsewhere = await get('/panel/sign-in', HOST);
  expect(elsewhere.statusCode).toBe(429);
  expect(elsewhere.json().error.errorCode).toBe('E9001');
  expect(elsewhere.headers['retry-after']).toBeDefined();
  expect(elsewhere.headers).not.toHaveProperty('cross-origin-opener-policy');
  for (const url of ['/', '/docs', `/checkout/${'x'.repeat(43)}`]) {
    const onPanel = await get(url, PANEL);
    expect(onPanel.statusCode, url).toBe(429);
    expect(onPanel.body, url).toContain('/panel/assets/');
    expect(onPanel.headers['cross-origin-opener-policy'], url).toBeDefined();
  }
  await limited.close();
});

test('an absolute target with the panel’s host opens it only with that Host header', async () => {
  const target = `https://${PANEL}/panel/sign-in`;
  expect((await ask(target, PANEL)).statusCode).toBe(200);
  expect((await ask(target, HOST)).statusCode).toBe(404);
  expect((await ask(`https://${HOST}/panel/sign-in`, PANEL)).statusCode).toBe(400);
});

test.each([PANEL, 'PANEL.Example.TEST', `${PANEL}:443`, `${PANEL}.`])(
  'the host %s serves the panel and health alone, however paths are spelt',
  async host => {
    for (const target of ['/panel/sign-in', '/%70anel/sign-in', '/healthz', '/%72eadyz']) {
      expect((await ask(target, host)).statusCode, target).toBe(200);
    }
    for (const target of [
      '/docs',
      '/%64ocs',
      '/openapi.json',
      '/external/v1/payments',
      '/nothing',
    ]) {
      const page = await ask(target, host);
      expect(page.statusCode, target).toBe(404);
      expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
      expect(page.headers['content-security-policy']).toContain("default-src 'none'");
      expect(page.body).toContain('There is no such page');
      expect(page.body).toContain('/panel/assets/');
      const script = await ask(target, host, 'application/json');
      expect(script.statusCode, target).toBe(404);
      expect(JSON.parse(script.body).error.errorCode).toBe('E3001');
    }
  },
);

test('the root of its host leads to the panel', async () => {
  for (const accept of [BROWSER, '*/*']) {
    const { statusCode, headers } = await ask('/', PANEL, accept);
    expect(statusCode).toBe(303);
    expect(headers.location).toBe('/panel');
  }
});

test('no spelling of a path opens the panel on another host', async () => {
  const spelling = fc.array(fc.boolean(), { minLength: 14, maxLength: 14 });
  await fc.assert(
    fc.asyncProperty(spelling, async encoded => {
      const path = [...'/panel/sign-in'].map((character, at) =>
        encoded[at] && at > 0 ? `%${character.charCodeAt(0).toString(16)}` : character,
      );
      const answer = await apart.app.inject({ url: path.join(''), headers: { host: HOST } });
      expect(answer.statusCode).toBe(404);
      expect(answer.json().error.errorCode).toBe('E3001');
    }),
  );
});

test('a missing page keeps the navigation of the account, for its people only', async () => {
  const [own, other] = [
    await addMerchant(shared, { name: 'Blue Coffee' }),
    await addMerchant(shared),
  ];
  const { cookie } = await addMerchantUser(shared, own.merchant.id, 'admin');
  const stranger = await addMerchantUser(shared, other.merchant.id, 'admin');
  const path = `/panel/merchants/${own.merchant.id}`;
  const links = `href="${path}/payments"`;
  for (const part of ['/nothing', '/settings/nothing', '/payments/x', '/unmatched/x']) {
    const page = await open(shared, path + part, { cookie });
    expect(page.statusCode, part).toBe(404);
    expect(textOf(page)).toContain('There is no such page');
    expect(page.body, part).toContain(links);
    for (const visitor of [{}, stranger]) {
      const { body } = await open(shared, path + part, visitor);
      expect(body).not.toContain(links);
      expect(body).not.toContain('Blue Coffee');
    }
  }
  const wrongMethod = await submit(shared, `${path}/payments`, {}, { cookie });
  expect(wrongMethod.statusCode).toBe(405);
  expect(wrongMethod.headers.allow).toBe('GET, HEAD');
  expect(wrongMethod.body).toContain(links);
});

test('text that no column can store is refused below the navigation, and counted', async () => {
  const limited = await startTestApp({ env: { RATE_LIMIT_MAX: '1' } });
  const { merchant } = await addMerchant(limited);
  const { cookie } = await addMerchantUser(limited, merchant.id, 'admin');
  const path = `/panel/merchants/${merchant.id}/payments`;
  const page = await open(limited, `${path}?search=%00`, { cookie });
  expect(page.statusCode).toBe(400);
  expect(page.body).toContain(`href="${path}"`);
  const get = () => limited.app.inject({ url: '/panel/sign-in?next=%00', headers: { host: HOST } });
  expect((await get()).statusCode).toBe(400);
  expect((await get()).statusCode).toBe(429);
  await limited.close();
});
