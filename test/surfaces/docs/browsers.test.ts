import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { expectRefusal } from '../../helpers/refusal.ts';

/** Only browsers get the start page, and a page in place of a missing one. */

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
  'x-content-type-options': 'nosniff',
};

let service: TestApp;
beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());
const ask = (url: string, accept?: string) =>
  service.app.inject({
    url,
    headers: { host: 'pay.example.test', ...(accept === undefined ? {} : { accept }) },
  });

test('the start page leads to quickstart, reference and documentation', async () => {
  const answer = await ask('/', BROWSER);
  expect(answer.statusCode).toBe(200);
  expect(answer.headers).toMatchObject({ ...HEADERS, vary: 'accept' });
  const [, main = ''] = /<main[^>]*>([\s\S]*)<\/main>/.exec(answer.body) ?? [];
  const links = [...main.matchAll(/href="([^"]+)"/g)].map(([, href = '']) => href);
  expect(links).toEqual(expect.arrayContaining(['/docs', '/docs/quickstart', '/docs/reference']));
  for (const link of links) {
    // Visitors who are not signed in are redirected.
    const expected = link === '/panel' ? 303 : 200;
    expect((await ask(link, BROWSER)).statusCode, link).toBe(expected);
  }
  expect(links).toEqual(expect.arrayContaining(['/panel', '/docs/shop']));
});

test.each([undefined, '*/*', 'application/json'])('with Accept %s there is no /', async accept => {
  const { message } = expectRefusal(await ask('/', accept), 'E3001');
  expect(message).toBe('There is no GET on this path.');
});

describe.each([
  ...['/docs/nothing', '/docs/signing/', '/docs/errors/E0000', '/docs/%3Cscript%3E'],
  ...['/nothing', '/nothing/%3Cscript%3E?x', '/PANEL', '/processor/nothing'],
])('%s', path => {
  test('is a page that leads home for a browser', async () => {
    const answer = await ask(path, BROWSER);
    expect(answer.statusCode).toBe(404);
    expect(answer.headers).toMatchObject({ ...HEADERS, 'cache-control': 'no-store' });
    expect(answer.body).toContain('<h1>Page not found</h1>');
    expect(answer.body).toContain('href="/docs"');
    expect(answer.body).not.toContain('nothing');
    expect(answer.body).not.toMatch(/<script(?! type="module" src="\/docs\/assets\/)/i);
  });

  test('is E3001 for anything else', async () => {
    for (const accept of [undefined, '*/*', 'application/json']) {
      expectRefusal(await ask(path, accept), 'E3001');
    }
  });
});

test('a browser that opens a path of the API gets the API’s envelope', async () => {
  for (const path of ['/external/v1/nothing', '/external/partner/x']) {
    expectRefusal(await ask(path, BROWSER), 'E3001');
  }
});

test('the start page links to the panel on the panel’s own host', async () => {
  const apart = await startTestApp({ env: { PANEL_URL: 'https://panel.example.test' } });
  try {
    const { body } = await apart.app.inject({
      url: '/',
      headers: { host: 'pay.example.test', accept: BROWSER },
    });
    expect(body).toContain('href="https://panel.example.test/panel"');
  } finally {
    await apart.close();
  }
});

test('a missing page is logged with its error code', async () => {
  await ask('/docs/nothing', BROWSER);
  expect(service.logs.at(-1)).toMatchObject({ status: 404, errorCode: 'E3001' });
});
