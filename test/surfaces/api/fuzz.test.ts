import fc from 'fast-check';
import type { InjectOptions, RouteOptions } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Credentials, signingHeaders } from '#client/index.ts';
import { addMerchant, addPartner } from '../../helpers/accounts.ts';
import { anyText } from '../../helpers/any-text.ts';
import type { TestApp } from '../../helpers/app.ts';
import { openCheckout } from '../../helpers/checkout.ts';
import { runs } from '../../helpers/property-runs.ts';
import { startWithRoutes } from '../../helpers/registered-routes.ts';
import { addOlderMerchant, basic } from '../legacy/older-contract.ts';

/** Random and hostile requests to every registered route, signed so that they get in. */

const INPUTS_PER_ROUTE = runs(150);
/** For creations, few of which are accepted: thirty. */
const INPUTS_PER_CREATION = 600;
/** For pages that take no input from a request. */
const INPUTS_PER_PAGE = 10;
const INPUTS = runs(2_000);

let service: TestApp;
let routes: RouteOptions[];
/** By name, so that a counterexample names the key's owner. */
let callers: Record<string, Credentials | { authorization: string } | undefined>;
/** Existing values that may appear in a path or a body. */
let known: string[];
let secrets: string[];

beforeAll(async () => {
  const started = await startWithRoutes();
  service = started.service;
  routes = started.registered.filter(({ method }) => method !== 'HEAD');
  const partner = await addPartner(service);
  const shop = await addOlderMerchant(service, { domains: ['shop.example'] });
  const us = await addMerchant(service, { kind: 'us' });
  const linked = await addMerchant(service, { partnerId: partner.partner.id });
  callers = {
    stranger: undefined,
    shop,
    us,
    partner,
    linked,
    user: { authorization: basic(shop.clientId, shop.apiKey) },
  };
  const { path, paymentId } = await openCheckout(service, shop);
  const token = path.split('/').at(-1) ?? '';
  known = [paymentId, token, linked.merchant.id, shop.merchant.id, 'sandbox', 'btc', 'eth'];
  secrets = [shop, us, partner, linked].flatMap(({ secret, passphrase }) => [secret, passphrase]);
  secrets.push(shop.apiKey);
});
afterAll(() => service.close());

const hostile = fc.constantFrom<unknown>(
  ...[null, true, [], {}, [null], '', ' ', '0', '-1', '1e3', 50, 50.5, -0, 2 ** 53, 1e308],
  ...[
    '\0',
    '\ud800',
    '💸',
    'é'.repeat(300),
    "'; drop table payments; --",
    '../../etc/passwd',
    '%00',
  ],
  ...['constructor', '__proto__', 'toString', 'NaN', 'Infinity', '2026-02-30', '2026-05-17'],
  ...[
    'https://shop.example/x',
    'javascript:alert(1)',
    'x'.repeat(5_000),
    [['btc']],
    ['btc', 'eth'],
  ],
);
const value = fc.oneof(
  { weight: 3, arbitrary: hostile },
  { weight: 2, arbitrary: fc.nat(12).map(index => known[index % known.length]) },
  { weight: 1, arbitrary: fc.uuid() },
  { weight: 2, arbitrary: fc.integer({ min: -10, max: 200_000_000 }) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 1, arbitrary: anyText() },
);
const plausible = fc.record({ amount: fc.integer({ min: 50, max: 10_000 }) });

/** An object with some of these names, and sometimes others. */
function fields(names: readonly string[]): fc.Arbitrary<Record<string, unknown>> {
  const name = names.length === 0 ? fc.string() : fc.constantFrom(...names);
  const any = fc.oneof({ weight: 6, arbitrary: name }, { weight: 1, arbitrary: fc.string() });
  return fc.dictionary(any, value, { maxKeys: 5 });
}

function namesOf(schema: unknown): string[] {
  const { properties = {} } = (schema ?? {}) as { properties?: object };
  return Object.keys(properties);
}

function requestTo(route: RouteOptions) {
  const parameters = [...route.url.matchAll(/:\w+|\*/g)].length;
  const bodyNames = namesOf(route.schema?.body);
  return fc.record({
    caller: fc.constantFrom('stranger', 'shop', 'us', 'partner', 'linked', 'user'),
    parameters: fc.array(value, { minLength: parameters, maxLength: parameters }),
    query: fc.oneof(fc.constant({}), fields(namesOf(route.schema?.querystring))),
    body: fc.oneof(
      { weight: 4, arbitrary: fields(bodyNames) },
      { weight: 3, arbitrary: fc.tuple(plausible, fields(bodyNames)).map(both => both[0]) },
      { weight: 2, arbitrary: fc.tuple(plausible, fields(bodyNames)).map(merge) },
      { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map(bytes => Buffer.from(bytes)) },
      { weight: 1, arbitrary: value },
    ),
    contentType: fc.oneof(
      { weight: 6, arbitrary: fc.constant('application/json') },
      {
        weight: 1,
        arbitrary: fc.constantFrom('text/plain', 'application/x-www-form-urlencoded', 'x', ''),
      },
    ),
    idempotencyKey: fc.oneof(
      { weight: 4, arbitrary: fc.uuid() },
      { weight: 1, arbitrary: fc.constantFrom(undefined, '', 'a', 'x'.repeat(300), 'é') },
    ),
    accept: fc.constantFrom('*/*', 'text/html', 'application/json', 'x', ''),
  });
}

const merge = ([one, other]: [object, object]) => ({ ...one, ...other });

type Request = ReturnType<typeof requestTo> extends fc.Arbitrary<infer R> ? R : never;

async function send(route: RouteOptions, request: Request) {
  const { caller, parameters, query, body, contentType, idempotencyKey, accept } = request;
  const method = route.method as 'GET' | 'POST';
  const text = (part: unknown) => (typeof part === 'string' ? part : JSON.stringify(part)) ?? '';
  const encode = (part: unknown) => encodeURIComponent(text(part).toWellFormed());
  let index = 0;
  const path = route.url.replaceAll(/:\w+|\*/g, () => encode(parameters[index++]));
  const search = Object.entries(query).map(([name, each]) => `${encode(name)}=${encode(each)}`);
  const url = search.length === 0 ? path : `${path}?${search.join('&')}`;
  const payload = Buffer.isBuffer(body)
    ? body
    : contentType === 'application/x-www-form-urlencoded' && body !== null
      ? new URLSearchParams(
          Object.entries(Object(body)).map(([name, each]): [string, string] => [name, text(each)]),
        ).toString()
      : JSON.stringify(body);
  const credentials = callers[caller];
  const sent = method === 'GET' ? undefined : Buffer.from(payload ?? '');
  const signed =
    credentials === undefined || 'authorization' in credentials
      ? (credentials ?? {})
      : signingHeaders(credentials, { method, path: url, body: sent, now: service.clock() });
  const headers = {
    ...signed,
    accept,
    ...(sent === undefined ? {} : { 'content-type': contentType }),
    ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
  };
  const options: InjectOptions = { method, url, headers };
  return service.app.inject(sent === undefined ? options : { ...options, payload: sent });
}

function inputsTo({ url, method }: RouteOptions): number {
  if (method === 'POST' && url.endsWith('/v1/payments/prompt')) return INPUTS_PER_CREATION;
  const takesInput = url.startsWith('/external') || url.includes(':') || method !== 'GET';
  return takesInput ? INPUTS_PER_ROUTE : INPUTS_PER_PAGE;
}

test('no input to any route causes a failure of the service', async () => {
  expect(routes.length).toBeGreaterThan(25);
  const count = async () => {
    const { payments } = await service.db
      .selectFrom('payments')
      .select(eb => eb.fn.countAll<number>().as('payments'))
      .executeTakeFirstOrThrow();
    return Number(payments);
  };
  const before = await count();
  let created = 0;
  let inputs = 0;
  for (const route of routes) {
    const property = fc.asyncProperty(requestTo(route), async request => {
      inputs += 1;
      const answer = await send(route, request);
      const where = `${route.method} ${route.url} ${answer.payload.slice(0, 500)}`;
      expect(answer.statusCode, where).toBeLessThan(500);
      expect(answer.headers['x-request-id'], where).toBeDefined();
      expect(
        secrets.filter(secret => answer.payload.includes(secret)),
        where,
      ).toEqual([]);
      // A key that is drawn twice with one body replays the first creation.
      const isReplayed = answer.headers['idempotent-replayed'] === 'true';
      if (answer.statusCode === 201 && !isReplayed) created += 1;
      if (answer.statusCode < 400 || !route.url.startsWith('/external')) return;
      const body = answer.json();
      if (/^\/external\/(v1|partner)\//.test(route.url)) {
        expect(body.error, where).toMatchObject({ errorCode: expect.stringMatching(/^E\d{4}$/) });
      } else {
        expect(body, where).toMatchObject({ statusCode: answer.statusCode });
      }
    });
    await fc.assert(property, { numRuns: inputsTo(route) });
  }
  // Refused requests have left nothing behind, and each accepted one exists once.
  expect(inputs).toBeGreaterThan(INPUTS);
  expect(created).toBeGreaterThan(2);
  expect(await count()).toBe(before + created);
  const failures = service.logs.filter(({ level }) => level === 'error' || level === 'fatal');
  expect(failures).toEqual([]);
}, 300_000);
