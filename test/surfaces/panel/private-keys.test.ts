import type { RouteOptions } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestApp } from '../../helpers/app.ts';
import { addSession, HOST, PASSWORD, submit, type Visitor } from '../../helpers/panel.ts';
import { startWithRoutes } from '../../helpers/registered-routes.ts';
import { type FilledPanel, fillPanel } from './filled-panel.ts';

/** BIP-32, test vector 1. */
const PRIVATE_KEY =
  'xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi';
const WORDS = 'legal winner thank year wave sausage worth useful legal winner thank yellow';
const PRIVATE = [PRIVATE_KEY, WORDS];

let service: TestApp;
let routes: RouteOptions[];
let filled: FilledPanel;
beforeAll(async () => {
  const started = await startWithRoutes();
  service = started.service;
  routes = started.registered.filter(
    ({ url }) => /^\/panel(\/|$)/.test(url) && !/assets|checkout\//.test(url),
  );
  filled = await fillPanel(service);
});
afterAll(() => service.close());

/** Somebody who may use the route; `half` has given the password alone. */
function visitorOf(url: string): Visitor {
  const who = url.includes('/partners/')
    ? 'owner'
    : url.endsWith('/sign-in/code')
      ? 'half'
      : 'admin';
  const { [who]: person } = filled.people;
  if (person === undefined) throw new Error(`${who} is nobody`);
  return person.visitor;
}

function pathOf(url: string): string {
  const account = url.includes('/partners/') ? filled.partnerId : filled.merchantId;
  return url.replaceAll(/:(\w+)/g, (_, name) =>
    name === 'accountId' ? account : (filled.ids[name]?.[0] ?? 'x'),
  );
}

/** Every row that could hold what was sent. */
async function dump(): Promise<string> {
  const names = [
    ...(['payments', 'deposits', 'address_changes', 'audit_log', 'request_log'] as const),
    ...(['merchants', 'branches', 'api_keys', 'webhook_endpoints', 'mails', 'people'] as const),
  ];
  const rows = await Promise.all(
    names.map(name => service.db.selectFrom(name).selectAll().execute()),
  );
  return JSON.stringify(rows);
}

test('every page and form refuses them, and none keeps or repeats them', async () => {
  const seen: Record<string, number> = { GET: 0, POST: 0 };
  for (const { method, url } of routes) {
    if (method !== 'GET' && method !== 'POST') continue;
    const visitor = visitorOf(url);
    for (const given of PRIVATE) {
      const cookie = await addSession(service, visitor, url.endsWith('/sign-in/code') ? null : 0);
      const path = pathOf(url);
      const response =
        method === 'POST'
          ? await submit(service, path, { name: given, 'confirmation-sure': 'yes' }, { cookie })
          : await service.app.inject({
              url: path,
              query: { search: `${given} ` },
              headers: { host: HOST, cookie },
            });
      const where = `${method} ${url}`;
      expect(response.statusCode, where).toBe(400);
      expect(response.body, where).toContain('Move the money to a new wallet');
      expect(response.body, where).not.toContain(given);
      seen[method] = (seen[method] ?? 0) + 1;
      service.clock.now += 1_000;
    }
  }
  expect(seen.GET).toBeGreaterThan(60);
  expect(seen.POST).toBeGreaterThan(80);
  for (const kept of [await dump(), JSON.stringify(service.logs)]) {
    for (const given of PRIVATE) expect(kept).not.toContain(given);
    expect(kept).not.toContain('xprv');
  }
});

test('in one of several values of a field, and behind a question', async () => {
  const { visitor } = filled.people.admin ?? {};
  const session = { cookie: await addSession(service, visitor ?? visitorOf('')) };
  const path = pathOf('/panel/merchants/:accountId/settings/addresses/btc/review');
  const twice = await service.app.inject({
    method: 'POST',
    url: path,
    payload: `address=x&address=${PRIVATE_KEY}`,
    headers: {
      host: HOST,
      'content-type': 'application/x-www-form-urlencoded',
      'sec-fetch-site': 'same-origin',
      ...session,
    },
  });
  expect(twice.body).toContain('Move the money to a new wallet');
  const spanish = await submit(service, path, { key: `wpkh(${PRIVATE_KEY}/0/*)` }, session);
  expect(spanish.body).not.toContain(PRIVATE_KEY);
});

test('one that is sent signed out is not repeated by the way to sign in', async () => {
  const path = `/panel/merchants/${filled.merchantId}/payments`;
  const PUBLIC_KEY =
    'xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8';
  const locationOf = async (query: string, cookie = '') => {
    const headers = { host: HOST, cookie };
    const { statusCode, headers: answer } = await service.app.inject({
      url: path + query,
      headers,
    });
    expect(statusCode).toBe(303);
    return decodeURIComponent(String(answer.location));
  };
  const half = await addSession(service, visitorOf('/sign-in/code'), null);
  for (const given of [...PRIVATE, PUBLIC_KEY, `wpkh(${PUBLIC_KEY}/0/*)`]) {
    const query = `?search=${encodeURIComponent(given)}`;
    expect(await locationOf(query)).toBe(`/panel/sign-in?next=${path}`);
    expect(await locationOf(query, half)).toBe(`/panel/sign-in/code?next=${path}`);
  }
  expect(await locationOf('?search=order-7')).toBe(`/panel/sign-in?next=${path}?search=order-7`);
});

test('a passphrase may have a dozen words', async () => {
  const signIn = await submit(service, '/panel/sign-in', { email: 'a@b.example', password: WORDS });
  expect(signIn.statusCode).toBe(422);
  expect(signIn.body).not.toContain('Move the money');
  expect(PASSWORD).not.toBe(WORDS);
});
