import type { RouteOptions } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addMerchant } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { openCheckout } from '../helpers/checkout.ts';
import { HOST } from '../helpers/panel.ts';
import { startWithRoutes } from '../helpers/registered-routes.ts';

const HTTPS_ALONE = 'max-age=31536000; includeSubDomains';
const POLICY = /^default-src 'none'; .*frame-ancestors '/;
const NOTHING = "default-src 'none'; frame-ancestors 'none'";

let service: TestApp;
let registered: RouteOptions[];
beforeAll(async () => {
  ({ service, registered } = await startWithRoutes());
});
afterAll(() => service.close());

const ask = (url: string, accept: string, { app }: TestApp = service) =>
  app.inject({ url, headers: { host: HOST, accept } });

test('every response forbids http and frames, and only pages may load anything', async () => {
  const { path } = await openCheckout(service, await addMerchant(service));
  const paths = registered
    .filter(({ method }) => method === 'GET')
    .map(({ url }) => url.replaceAll(/:\w+(\([^)]*\))?|\*/g, 'x'));
  const pages = new Set<string>();
  const files = new Set<string>();
  for (const url of [path, '/nothing', '/%zz', '/checkout/%zz', ...paths]) {
    const { headers, statusCode } = await ask(url, 'text/html');
    expect(headers['strict-transport-security'], url).toBe(HTTPS_ALONE);
    expect(headers['x-content-type-options'], url).toBe('nosniff');
    const policy = headers['content-security-policy'];
    expect(policy, url).toMatch(POLICY);
    const type = String(headers['content-type']);
    if (type.startsWith('text/html')) {
      pages.add(url);
      expect(policy, url).toContain("style-src 'self'");
    } else if (policy === NOTHING && statusCode === 200) {
      files.add(type);
    }
  }
  expect(pages.size).toBeGreaterThan(15);
  expect([...files]).toContain('application/json; charset=utf-8');
});

test('the files that pages load have a policy of their own', async () => {
  const { path } = await openCheckout(service, await addMerchant(service));
  const types = new Set<string>();
  for (const page of [path, '/panel/sign-in', '/docs']) {
    const { body } = await ask(page, 'text/html');
    const files = [...body.matchAll(/ (?:href|src)="([^"]+\/assets\/[^"]+)"/g)];
    expect(files.length, page).toBeGreaterThan(1);
    for (const [, file = ''] of files) {
      const { headers, statusCode } = await ask(file, '*/*');
      expect(statusCode, file).toBe(200);
      expect(headers['content-security-policy'], file).toMatch(POLICY);
      expect(headers['x-content-type-options'], file).toBe('nosniff');
      types.add(String(headers['content-type']).split(';')[0] ?? '');
    }
  }
  expect([...types].sort()).toEqual(['image/svg+xml', 'text/css', 'text/javascript']);
});

test('over http, for development, browsers may use http', async () => {
  const env = { PUBLIC_URL: 'http://127.0.0.1:3000' };
  const local = await startTestApp({ env });
  for (const url of ['/healthz', '/docs', '/panel/sign-in', '/nothing']) {
    const { headers } = await ask(url, 'text/html', local);
    expect(headers, url).not.toHaveProperty('strict-transport-security');
    expect(headers['content-security-policy'], url).toContain("frame-ancestors 'none'");
  }
  await local.close();
});
