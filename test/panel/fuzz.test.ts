import fc from 'fast-check';
import type { InjectOptions, RouteOptions } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { proposeMainBranch } from '../../src/accounts/address-changes.ts';
import { createBranch } from '../../src/accounts/branches.ts';
import { createPartnerMember } from '../../src/accounts/partners.ts';
import { createUser } from '../../src/accounts/users.ts';
import { newToken } from '../../src/crypto/token.ts';
import { MERCHANT_SCOPES } from '../../src/keys/scopes.ts';
import { inviteUser } from '../../src/panel/people/invitations.ts';
import { beginSession } from '../../src/panel/people/panel-sessions.ts';
import { observeTransfer } from '../../src/settlement/observe-transfer.ts';
import { addMerchant, addPartner, operatorOf } from '../helpers/accounts.ts';
import type { TestApp } from '../helpers/app.ts';
import { openCheckout } from '../helpers/checkout.ts';
import { addDelivery, addEndpoint } from '../helpers/deliveries.ts';
import { addRequest } from '../helpers/logged-requests.ts';
import {
  addMerchantUser,
  addPartnerUser,
  addPerson,
  HOST,
  open,
  PASSWORD,
  SESSION_COOKIE,
  type Visitor,
} from '../helpers/panel.ts';
import { addPayment } from '../helpers/payments.ts';
import { startWithRoutes } from '../helpers/registered-routes.ts';

/**
 * Random and hostile requests to every page that is registered, by everybody who may sign in and by
 * nobody. Every request has a session of its own: many forms end the one they are sent from.
 */

/** Of each form, and of each page with an address of its own for each object. */
const INPUTS_PER_ROUTE = 29;
/** Of a form whose every input has a password hashed. */
const INPUTS_PER_HASH = 14;
/** Of any other page, and of HEAD, which runs what GET runs. */
const INPUTS_PER_PAGE = 4;
const INPUTS = 2_000;
/** Routes that are asked at once: hashing a password, and the database, leave time for others. */
const LANES = 4;

/** What each form of the pages is sent with; a form without a line here fails. */
const FORMS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/sign-in$/, ['email', 'password']],
  [/(sign-in\/code|confirm)$/, ['code']],
  [/join\/:token$/, ['email', 'password', 'secret', 'code']],
  [/profile\/email$/, ['email', 'password', 'code']],
  [/profile\/password$/, ['new-password', 'password', 'code']],
  [/profile\/app$/, ['secret', 'new-code', 'password', 'code']],
  [/profile\/recovery-codes$/, ['password', 'code']],
  [/keys\/new$/, ['intent', 'name', 'expiry', 'date', ...MERCHANT_SCOPES]],
  [/explain$/, ['key', 'method', 'url', 'body', 'timestamp', 'nonce', 'signature']],
  [/webhooks\/new$/, ['intent', 'url', 'type']],
  [/webhooks\/.*rotate$/, ['intent']],
  [/redeliver-failed$/, ['since']],
  [/webhooks\/.*(test|disable|enable|redeliver)$/, []],
  [/rotate$/, ['intent', 'grace']],
  [/revoke$/, ['name']],
  [/settings\/branches$/, ['name']],
  [/addresses\/:blockchainId\/(review|remove)$/, ['branch', 'address', 'kind']],
  [/addresses\/:blockchainId\/propose$/, ['branch', 'address', 'kind', 'seen', 'code']],
  [/(approve|relax|\/main)$/, ['code']],
  [/team\/invite$/, ['intent', 'name', 'email', 'role', 'code']],
  [/:memberId\/role$/, ['role', 'code']],
  [/:memberId\/status$/, ['status', 'code']],
  [/:memberId\/link$/, ['intent', 'purpose', 'code']],
  [/domains\/(add|remove)$/, ['domain']],
  [/appearance$/, ['support', 'accent', 'shows-note', 'logo', 'removes-logo']],
  [/preview$/, ['support', 'accent', 'shows-note', 'logo', 'removes-logo', 'stage']],
  [/(assign|ask)$/, ['payment', 'sure', 'arrived', 'due']],
  [/dismiss$/, ['deposit', 'remedy', 'to', 'hash', 'note']],
  [/simulate$/, ['case']],
  [/self-service$/, ['self-service']],
  [/test-twin$/, ['twin']],
  [/:token\/network$/, ['network']],
  [/sandbox\/:token$/, ['action', 'network']],
  [/(sign-out|accept|second-admin|invitation|cancel|end|end-others|notifications\/:name)$/, []],
];
/** What pages read from their addresses. */
const QUERY = [
  ...['next', 'search', 'from', 'to', 'status', 'after', 'before', 'page', 'merchant', 'network'],
  ...[
    'transaction',
    'lang',
    'stage',
    'arrived',
    'why',
    'worth',
    'key',
    'code',
    'method',
    'url',
    'branch',
    'redelivered',
  ],
  ...['month', 'action', 'payment', 'name', 'address', 'hash'],
];

/** Address that one merchant alone has, so that what arrives there is in its inbox. */
const OWN = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

let service: TestApp;
let routes: RouteOptions[];
let people: Record<string, { visitor: Visitor; isComplete: boolean } | undefined>;
let ids: Record<string, readonly string[]>;
let known: string[];

beforeAll(async () => {
  const started = await startWithRoutes();
  service = started.service;
  routes = started.registered.filter(({ url }) => !url.startsWith('/external'));
  const shop = await addMerchant(service, { addresses: { 'eth-test': OWN } });
  const partner = await addPartner(service);
  // From now on changes of where money goes wait.
  const paid = await addPayment(service.db, shop.merchant, {
    ...{ created_at: new Date(service.clock.now), paid_at: new Date(service.clock.now) },
    ...{ status: 'successful', session_status: 'completed' },
  });
  const linked = await addMerchant(service, { partnerId: partner.partner.id });
  const { path, paymentId } = await openCheckout(service, shop);
  const now = new Date(service.clock.now);
  const deposit = await observeTransfer(
    service.db,
    {
      ...{ blockchainId: 'eth-test', transactionHash: '0x1', position: 0, address: OWN },
      ...{ tokenAmount: 12_345n, blockHeight: null, blockHash: null, occurredAt: now },
      ...{ finality: 'final', source: 'simulation' },
    },
    now,
  );
  const of = (visitor: Visitor, isComplete = true) => ({ visitor, isComplete });
  const [m, p] = [shop.merchant.id, partner.partner.id];
  people = {
    nobody: undefined,
    half: of(await addPerson(service), false),
    'without account': of(await addPerson(service)),
    demo: of(await addMerchantUser(service, m, 'admin', { isDemo: true })),
    admin: of(await addMerchantUser(service, m, 'admin', { withPassword: true })),
    member: of(await addMerchantUser(service, m, 'member')),
    owner: of(await addPartnerUser(service, p, 'owner')),
    developer: of(await addPartnerUser(service, p, 'developer')),
  };
  const { id: branchId } = await createBranch(operatorOf(service), {
    ...{ merchantId: m, name: 'Other', main: false },
  });
  const change = await proposeMainBranch(
    { ...operatorOf(service), personId: people.admin?.visitor.personId ?? '' },
    { merchantId: m, branchId },
    60 * 60_000,
  );
  const { endpoint } = await addEndpoint(service, m);
  const deliveryId = await addDelivery(service, paid, {
    ...{ endpointId: endpoint.id, log: [{ status_code: 500, response_excerpt: '<b>' }] },
  });
  const token = path.split('/').at(-1) ?? '';
  const invited = await createUser(operatorOf(service), {
    ...{ merchantId: m, name: 'Grace', email: 'grace@example.com', role: 'member' },
  });
  const link = await inviteUser(operatorOf(service), invited.id);
  const newcomer = await createPartnerMember(operatorOf(service), {
    ...{ partnerId: p, name: 'Hopper', email: 'hopper@example.com', role: 'developer' },
  });
  known = [m, p, paymentId, token, linked.merchant.id, shop.keyId, 'sandbox', 'eth-test'];
  known.push(deposit.id, branchId, change.id, OWN);
  known.push(...[PASSWORD, people.admin?.visitor.email ?? '', 'grace@example.com'].map(encode));
  ids = {
    merchantId: [linked.merchant.id],
    paymentId: [paymentId],
    depositId: [deposit.id],
    ...{ blockchainId: ['eth-test', 'btc'], branchId: [branchId], changeId: [change.id] },
    ...{ endpointId: [endpoint.id], deliveryId: [deliveryId] },
    memberId: [invited.id, newcomer.id],
    keyId: [shop.keyId, partner.keyId],
    requestId: await Promise.all(
      [shop, partner].map(({ keyId }) => addRequest(service, { keyId, errorCode: 'E2007' })),
    ),
    token: [token, link.token, newToken()],
  };
});
afterAll(() => service.close());

/** Text as it travels: encoded, or as no browser would encode it. */
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
    'x'.repeat(300),
    'x'.repeat(4_000),
    '%E2%80%AE',
    '//evil.example',
    '/panel/profile',
    'on',
    'yes',
  ],
  ...['never', 'date', 'expire', 'pay', 'btc', 'pending', 'de', 'a%40b.example', '123456'],
);
const text = fc.oneof(
  { weight: 5, arbitrary: hostile },
  { weight: 2, arbitrary: fc.nat(20).map(at => known[at % known.length] ?? '') },
  { weight: 1, arbitrary: fc.uuid() },
  { weight: 2, arbitrary: fc.string({ unit: 'binary' }).map(each => encode(each)) },
);
const encode = (value: string) => encodeURIComponent(value.toWellFormed());
/** Some of these names, one more than once at times, and at times others. */
function pairs(names: readonly string[]) {
  const name = fc.oneof(
    { weight: 20, arbitrary: fc.constantFrom(...names, 'x') },
    { weight: 1, arbitrary: fc.constantFrom('%00', '%ff', '__proto__') },
  );
  return fc.array(fc.tuple(name, text), { maxLength: 5 });
}
const join = (fields: readonly (readonly [string, string])[]) =>
  fields.map(([name, value]) => `${name}=${value}`).join('&');

/** A form with each of its fields once, most of the time. */
function formOf(names: readonly string[]): fc.Arbitrary<string> {
  const whole = fc.tuple(...names.map(name => text.map(value => [name, value] as const)));
  return fc.oneof(
    { weight: 4, arbitrary: whole.map(join) },
    { weight: 1, arbitrary: pairs(names).map(join) },
    { weight: 1, arbitrary: fc.tuple(whole, pairs(names)).map(both => join(both.flat())) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
  );
}

function fieldsOf({ method, url }: RouteOptions): readonly string[] {
  if (method !== 'POST') return [];
  const [, names] = FORMS.find(([pattern]) => pattern.test(url)) ?? [];
  if (names === undefined) throw new Error(`${url} has no line in FORMS`);
  return names;
}

/** Who gets beyond the question of who they are. */
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

/** A session as the person's browser has it just after the second factor. */
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
    // Of what signs somebody in, an address is refused most, before a password is hashed.
    remoteAddress: `10.0.0.${routes.indexOf(route)}`,
    headers: {
      ...{ host: HOST, accept, referer, 'user-agent': agent, 'sec-fetch-site': 'same-origin' },
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
    // No redirect leads to another site; the sandbox leads to its own page.
    if (statusCode === 303) expect(headers.location, where).toMatch(/^(\/(panel|checkout)|[\w%-])/);
  });
  const takesInput = route.method !== 'HEAD' && /[:*]|sign-in|confirm/.test(route.url);
  const isForm = route.method === 'POST';
  const inputsOfForm = /profile\/[a-z-]+$/.test(route.url) ? INPUTS_PER_HASH : INPUTS_PER_ROUTE;
  const inputsOfPage = takesInput ? INPUTS_PER_ROUTE : INPUTS_PER_PAGE;
  await fc.assert(property, {
    numRuns: isForm ? inputsOfForm : inputsOfPage,
    // Making a counterexample smaller takes longer than all the rest.
    endOnFailure: true,
  });
}

test('each kind of object that has pages is there', async () => {
  const named = routes.flatMap(({ url }) => url.match(/(?<=:)\w+Id\b/g) ?? []);
  const missing = named.filter(name => name !== 'accountId' && ids[name] === undefined);
  expect(missing).toEqual([]);
  const path = `/panel/merchants/${known[0]}/unmatched/${ids.depositId?.[0]}`;
  const page = await open(service, path, people.admin?.visitor);
  expect(page.statusCode).toBe(200);
  expect(page.body).toContain(`${path}/dismiss`);
});

test('no input to any page is answered with a failure of the service', async () => {
  expect(routes.length).toBeGreaterThan(70);
  const left = [...routes];
  const lanes = Array.from({ length: LANES }, async () => {
    for (let route = left.shift(); route !== undefined; route = left.shift()) await fuzz(route);
  });
  await Promise.all(lanes);
  expect(inputs).toBeGreaterThan(INPUTS);
  // Many get in: they are answered, or refused for what they hold.
  expect(statuses.get(200) ?? 0).toBeGreaterThan(inputs / 8);
  expect(statuses.get(400) ?? 0).toBeGreaterThan(inputs / 20);
  const failures = service.logs.filter(({ level }) => level === 'error' || level === 'fatal');
  expect(failures).toEqual([]);
}, 60_000);
