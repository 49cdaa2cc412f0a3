import fc from 'fast-check';
import type { InjectOptions, RouteOptions } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { beginSession } from '#accounts/people/panel-sessions.ts';
import { anyText } from '../../helpers/any-text.ts';
import type { TestApp } from '../../helpers/app.ts';
import {
  type MailServer,
  mailEnv,
  sendDueMail,
  startMailServer,
} from '../../helpers/mail-server.ts';
import { HOST, open, PASSWORD, SESSION_COOKIE, submit } from '../../helpers/panel.ts';
import { runs } from '../../helpers/property-runs.ts';
import { startWithRoutes } from '../../helpers/registered-routes.ts';
import { type FilledPanel, fillPanel, OWN_ADDRESS } from './filled-panel.ts';
import { fieldsOf } from './form-fields.ts';

/**
 * Random and hostile requests to every registered page, by everybody who may sign in and by
 * nobody. Every request has its own session, since many forms end the one that they are sent from.
 */

/** For each form, and for each page with its own path for each object. */
const INPUTS_PER_ROUTE = runs(29);
/** For a form that hashes a password for every input. */
const INPUTS_PER_HASH = runs(14);
/** For any other page, and for HEAD, which runs the same handler as GET. */
const INPUTS_PER_PAGE = runs(4);
const INPUTS = runs(2_000);
/** Routes that are tested concurrently: hashing passwords and the database leave time for others. */
const LANES = 4;

/** Query parameters of pages. */
const QUERY = [
  ...['next', 'search', 'from', 'to', 'status', 'after', 'before', 'page', 'merchant', 'network'],
  ...[
    'transaction',
    'lang',
    'stage',
    'arrived',
    'why',
    'worth',
    'minimum',
    'maximum',
    'key',
    'code',
    'method',
    'url',
    'branch',
  ],
  ...['month', 'action', 'payment', 'name', 'address', 'hash'],
];

let service: TestApp;
let mailServer: MailServer;
let routes: RouteOptions[];
let people: FilledPanel['people'];
let ids: FilledPanel['ids'];
let known: string[];

beforeAll(async () => {
  mailServer = await startMailServer();
  const started = await startWithRoutes({ env: mailEnv(mailServer.port) });
  service = started.service;
  routes = started.registered.filter(({ url }) => !url.startsWith('/external'));
  const { merchantId, partnerId, ...filled } = await fillPanel(service);
  ({ people, ids } = filled);
  known = [merchantId, partnerId, ...Object.values(ids).flat(), 'sandbox'];
  const texts = [OWN_ADDRESS, PASSWORD, people.admin?.visitor.email ?? '', 'grace@example.com'];
  known.push(...texts.map(encode));
});
afterAll(async () => {
  await service.close();
  await mailServer.close();
});

/** Text in a URL: encoded, or as no browser would encode it. */
const hostile = fc.constantFrom(
  ...['%00', 'a%00b', '%ff', '%', '%zz', '%ED%A0%80', '', '%20', '%F0%9F%92%B8', '..%2f..%2f'],
  ...['constructor', '__proto__', '%27%3B--', '%25%5F%5C', '%0D%0Aset-cookie:x', '%3Cscript%3E'],
  ...[
    '0',
    '-1',
    '1e9',
    '99999999999',
    'NaN',
    '0000-01-01',
    '9999-12-31',
    '2026-02-30',
    '0001-01-01',
  ],
  ...[
    '2026-05-17',
    '2026-05',
    'x'.repeat(300),
    'x'.repeat(4_000),
    '%E2%80%AE',
    '//evil.example',
    '/panel/profile',
    'on',
    'yes',
  ],
  ...['never', 'date', 'expire', 'pay', 'btc', 'pending', 'de', 'a%40b.example', '123456', '1h'],
);
const text = fc.oneof(
  { weight: 5, arbitrary: hostile },
  { weight: 2, arbitrary: fc.nat(30).map(at => known[at % known.length] ?? '') },
  { weight: 1, arbitrary: fc.uuid() },
  { weight: 2, arbitrary: anyText().map(each => encode(each)) },
);
const encode = (value: string) => encodeURIComponent(value.toWellFormed());
/** Some of these names, sometimes repeated, and sometimes others. */
function pairs(names: readonly string[]) {
  const name = fc.oneof(
    { weight: 20, arbitrary: fc.constantFrom(...names, 'x') },
    { weight: 1, arbitrary: fc.constantFrom('%00', '%ff', '__proto__') },
  );
  return fc.array(fc.tuple(name, text), { maxLength: 5 });
}
const join = (fields: readonly (readonly [string, string])[]) =>
  fields.map(([name, value]) => `${name}=${value}`).join('&');

/** A form with each of its fields once, mostly. */
function formOf(names: readonly string[]): fc.Arbitrary<string> {
  const whole = fc.tuple(...names.map(name => text.map(value => [name, value] as const)));
  return fc.oneof(
    { weight: 4, arbitrary: whole.map(join) },
    { weight: 1, arbitrary: pairs(names).map(join) },
    { weight: 1, arbitrary: fc.tuple(whole, pairs(names)).map(both => join(both.flat())) },
    { weight: 1, arbitrary: anyText() },
  );
}

/** Who passes the check of who they are. */
function admittedTo(url: string): readonly string[] {
  if (url.includes('/merchants/:accountId')) return ['admin', 'member', 'demo'];
  if (url.includes('/partners/:accountId')) return ['owner', 'developer'];
  return url.endsWith('/sign-in/code') ? ['half'] : ['admin'];
}

function requestTo(route: RouteOptions) {
  const parameters = [...route.url.matchAll(/:\w+|\*/g)].map(([name]) => name.slice(1));
  return fc.record({
    who: fc.oneof(
      fc.constantFrom(...Object.keys(people)),
      fc.constantFrom(...admittedTo(route.url)),
    ),
    path: fc.tuple(
      ...parameters.map(name =>
        fc.oneof(
          { weight: 8, arbitrary: fc.constantFrom(...(ids[name] ?? [''])) },
          { weight: name === 'accountId' ? 1 : 4, arbitrary: text },
        ),
      ),
    ),
    query: fc.oneof(fc.constant(''), pairs(QUERY).map(join)),
    form: formOf(fieldsOf(route)),
    contentType: fc.oneof(
      { weight: 9, arbitrary: fc.constant('application/x-www-form-urlencoded') },
      { weight: 1, arbitrary: fc.constantFrom('application/json', 'x', '') },
    ),
    agent: fc.constantFrom('Mozilla/5.0', '', 'é'.repeat(1_000), '%00'),
    referer: fc.constantFrom(`https://${HOST}/panel/profile`, '/%00', 'x', `https://${HOST}/%ff`),
    accept: fc.constantFrom('text/html', '*/*', 'application/json', ''),
  });
}

/** A session cookie as the person's browser has it just after the second factor. */
async function cookieOf(who: string): Promise<string | undefined> {
  const person = people[who];
  if (person === undefined) return undefined;
  const { visitor, isComplete } = person;
  const now = new Date(service.clock());
  const row = { id: visitor.personId, is_demo: who === 'demo' };
  const token = await beginSession(service.db, row, {
    methods: who === 'demo' ? ['demo'] : ['password', 'code'],
    secondFactorAt: isComplete ? now : null,
    visitor: { device: 'test', address: '127.0.0.1' },
    now,
  });
  return `${SESSION_COOKIE}=${token}`;
}

let inputs = 0;
const statuses = new Map<number, number>();

async function send(
  route: RouteOptions,
  request: ReturnType<typeof requestTo> extends fc.Arbitrary<infer R> ? R : never,
) {
  const { who, path, query, form, contentType, agent, referer, accept } = request;
  const account = route.url.includes('/partners/') ? 'owner' : 'admin';
  const [m = '', p = ''] = known;
  let at = 0;
  const url = route.url.replaceAll(/:(\w+)|\*/g, (_, name) => {
    const given = path[at++] ?? '';
    if (name !== 'accountId' || given !== '') return given;
    return account === 'owner' ? p : m;
  });
  const cookie = await cookieOf(who);
  const isForm = route.method === 'POST';
  inputs += 1;
  const options: InjectOptions = {
    method: route.method as 'GET' | 'HEAD' | 'POST',
    url: query === '' ? url : `${url}?${query}`,
    // Forms that sign in refuse most requests of an address before they hash a password.
    remoteAddress: `10.0.0.${routes.indexOf(route)}`,
    headers: {
      host: HOST,
      accept,
      referer,
      'user-agent': agent,
      'sec-fetch-site': 'same-origin',
      ...(cookie === undefined ? {} : { cookie }),
      ...(isForm ? { 'content-type': contentType } : {}),
    },
  };
  return service.app.inject(isForm ? { ...options, payload: form } : options);
}

async function fuzz(route: RouteOptions): Promise<void> {
  const property = fc.asyncProperty(requestTo(route), async request => {
    const { statusCode, headers, payload } = await send(route, request);
    const where = `${route.method} ${route.url} ${payload.slice(0, 500)}`;
    statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1);
    expect(statusCode, where).toBeLessThan(500);
    expect(headers['set-cookie'] ?? '', where).not.toContain('set-cookie:x');
    // No redirect leads to another site; the sandbox redirects to its own page.
    if (statusCode === 303) expect(headers.location, where).toMatch(/^(\/(panel|checkout)|[\w%-])/);
  });
  const takesInput = route.method !== 'HEAD' && /[:*]|sign-in|confirm/.test(route.url);
  const isForm = route.method === 'POST';
  const inputsOfForm = /profile\/[a-z-]+$/.test(route.url) ? INPUTS_PER_HASH : INPUTS_PER_ROUTE;
  const inputsOfPage = takesInput ? INPUTS_PER_ROUTE : INPUTS_PER_PAGE;
  await fc.assert(property, {
    numRuns: isForm ? inputsOfForm : inputsOfPage,
    // Shrinking a counterexample takes longer than all the rest.
    endOnFailure: true,
  });
}

test('each kind of object that has pages exists', async () => {
  const named = routes.flatMap(({ url }) => url.match(/(?<=:)\w+Id\b/g) ?? []);
  const missing = named.filter(name => name !== 'accountId' && ids[name] === undefined);
  expect(missing).toEqual([]);
  const path = `/panel/merchants/${known[0]}/unmatched/${ids.depositId?.[0]}`;
  const page = await open(service, path, people.admin?.visitor);
  expect(page.statusCode).toBe(200);
  expect(page.body).toContain(`${path}/dismiss`);
});

/** Routes of one test each, so that none takes long on a busy machine. */
const PARTS: readonly (readonly [string, (route: RouteOptions) => boolean])[] = [
  ['pages', ({ method }) => method !== 'POST'],
  ["merchants' forms", ({ method, url }) => method === 'POST' && url.includes('/merchants/')],
  ['other forms', ({ method, url }) => method === 'POST' && !url.includes('/merchants/')],
];

test.each(PARTS)(
  'no input to %s causes a failure of the service',
  async (_, isPart) => {
    const left = routes.filter(isPart);
    expect(left.length).toBeGreaterThan(20);
    const lanes = Array.from({ length: LANES }, async () => {
      for (let route = left.shift(); route !== undefined; route = left.shift()) await fuzz(route);
    });
    await Promise.all(lanes);
    const failures = service.logs.filter(({ level }) => level === 'error' || level === 'fatal');
    expect(failures).toEqual([]);
  },
  180_000,
);

test('mails caused by the inputs are sent, and link only to the panel', async () => {
  const email = people.admin?.visitor.email ?? '';
  await submit(service, '/panel/forgotten-password', { email });
  await sendDueMail(service, mailServer.port);
  expect(mailServer.to(email).map(({ subject }) => subject)).toContain('A link for a new password');
  const links = mailServer.mails.flatMap(({ text }) => text.match(/\w+:\/\/\S+/g) ?? []);
  expect(links.filter(link => !link.startsWith(`https://${HOST}/panel/`))).toEqual([]);
});

test('many inputs got in: they were answered, or refused for their contents', () => {
  expect(inputs).toBeGreaterThan(INPUTS);
  expect(statuses.get(200) ?? 0).toBeGreaterThan(inputs / 8);
  expect(statuses.get(400) ?? 0).toBeGreaterThan(inputs / 20);
});
