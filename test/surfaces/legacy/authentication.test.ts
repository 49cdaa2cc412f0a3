import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { setMerchant } from '#accounts/merchants.ts';
import { setPartner } from '#accounts/partners.ts';
import { issueLegacyKey, setUser } from '#accounts/users.ts';
import { createKeyring } from '#crypto/keyring.ts';
import { listLegacyUsage } from '#storage/repositories/keys/legacy-usage.ts';
import { LEGACY_REFUSALS, type LegacyReason } from '#surfaces/legacy/refusal.ts';
import { verifyUser } from '#surfaces/legacy/verify-user.ts';
import { addPartner, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { send } from '../../helpers/signed-request.ts';
import {
  ACTIVE,
  addAdmin,
  addOlderMerchant,
  ask,
  BODY,
  basic,
  expectLegacyHeaders,
  expectLegacyRefusal,
  type OlderMerchant,
  PROMPT,
} from './older-contract.ts';

const UNKNOWN_CLIENT = `mpc_${'0'.repeat(24)}`;
const base64 = (text: string | Uint8Array) => Buffer.from(text).toString('base64');

let service: TestApp;
let shop: OlderMerchant;
beforeAll(async () => {
  service = await startTestApp();
  shop = await addOlderMerchant(service);
});
afterAll(() => service.close());

/** Every route of the older contract. */
const ROUTES = [
  ['POST', PROMPT],
  ['GET', `${PROMPT}/01890a5d-ac96-774b-bcce-b302099a8057`],
  ['GET', ACTIVE],
] as const;

const authorize = (authorization: string | undefined) =>
  ask(service, shop, { headers: { authorization } });

describe('401, with its own message for each cause', () => {
  test('which are all different', () => {
    const messages = Object.values(LEGACY_REFUSALS).map(({ message }) => message);
    expect(new Set(messages).size).toBe(messages.length);
  });

  test.each(ROUTES)('on %s %s', async (method, path) => {
    const request = { method, path, ...(method === 'POST' ? { body: BODY } : {}) };
    const missing = await ask(service, shop, { ...request, headers: { authorization: undefined } });
    expectLegacyRefusal(missing, 'authorizationMissing');
    const wrong = await ask(service, { ...shop, apiKey: 'wrong' }, request);
    expectLegacyRefusal(wrong, 'apiKeyInvalid');
    expect(wrong.headers['www-authenticate']).toMatch(/^Basic realm=/);
  });

  test.each<[string, string | undefined, LegacyReason]>([
    ['no header', undefined, 'authorizationMissing'],
    ['an empty header', '', 'authorizationMissing'],
    ['another scheme', 'Bearer abc', 'authorizationMalformed'],
    ['a scheme that begins alike', `Basics ${base64('a:b')}`, 'authorizationMalformed'],
    ['the scheme alone', 'Basic', 'authorizationMalformed'],
    ['no scheme', base64('a:b'), 'authorizationMalformed'],
    ['plain text', 'Basic mpc_1:mpa_1', 'authorizationMalformed'],
    ['base64 for URLs', 'Basic _-_-_w==', 'authorizationMalformed'],
    ['base64 of an impossible length', 'Basic YTpiY', 'authorizationMalformed'],
    ['base64 with bits left over', 'Basic YTpiYx==', 'authorizationMalformed'],
    ['base64 in two parts', 'Basic YTpi YTpi', 'authorizationMalformed'],
    ['a list', `Basic ${base64('a:b')}, Basic ${base64('a:b')}`, 'authorizationMalformed'],
    ['no colon', `Basic ${base64('nothing')}`, 'authorizationMalformed'],
    [
      'what is not UTF-8',
      `Basic ${base64(Uint8Array.of(0xff, 0x3a, 0xfe))}`,
      'authorizationMalformed',
    ],
    [
      'a lone surrogate',
      `Basic ${base64(Uint8Array.of(0xed, 0xa0, 0x80, 0x3a))}`,
      'authorizationMalformed',
    ],
    ['nothing but a colon', basic('', ''), 'clientIdInvalid'],
    ['an unknown client ID', basic(UNKNOWN_CLIENT, 'key'), 'clientIdInvalid'],
    ['a client ID with a NUL', basic('mpc_\0', 'key'), 'clientIdInvalid'],
    ['a client ID of 8,000 characters', basic('m'.repeat(8000), 'key'), 'clientIdInvalid'],
    ['a key ID of v1', basic('mpk_0123456789abcdef01234567', 'key'), 'clientIdInvalid'],
  ])('%s', async (_name, authorization, reason) => {
    expectLegacyRefusal(await authorize(authorization), reason);
  });

  test('a header sent twice, even with the same value', async () => {
    const good = basic(shop.clientId, shop.apiKey);
    const response = await service.app.inject({
      url: ACTIVE,
      headers: { authorization: [good, good] as unknown as string },
    });
    expectLegacyRefusal(response, 'authorizationMalformed', 'more than once');
  });

  test.each<[string, (apiKey: string) => string]>([
    ['none', () => ''],
    ['another', key => `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`],
    ['in capitals', key => key.toUpperCase()],
    ['with a colon at the end', key => `${key}:`],
    ['with a colon in front', key => `:${key}`],
    ['with a NUL', key => `${key}\0`],
    ['with an emoji', key => `${key}😀`],
    ['with a line feed', key => `${key}\n`],
  ])('the API key: %s', async (_name, change) => {
    expectLegacyRefusal(
      await authorize(basic(shop.clientId, change(shop.apiKey))),
      'apiKeyInvalid',
    );
  });

  test("another user's key, and a v1 key's passphrase", async () => {
    const other = await addOlderMerchant(service);
    expectLegacyRefusal(await authorize(basic(shop.clientId, other.apiKey)), 'apiKeyInvalid');
    expectLegacyRefusal(await authorize(basic(shop.keyId, shop.passphrase)), 'clientIdInvalid');
  });

  test('a user who is inactive or no admin, from the very next request', async () => {
    const other = await addOlderMerchant(service);
    const set = (change: Parameters<typeof setUser>[2]) =>
      setUser(operatorOf(service), other.user.id, change);
    await set({ role: 'member' });
    expectLegacyRefusal(await ask(service, other), 'userNotAdmin');
    await set({ status: 'inactive' });
    expectLegacyRefusal(await ask(service, other), 'userInactive');
    // A user's state is not revealed without the key.
    expectLegacyRefusal(await ask(service, { ...other, apiKey: 'x' }), 'apiKeyInvalid');
    await set({ status: 'active', role: 'admin' });
    expect((await ask(service, other)).statusCode).toBe(200);
  });
});

describe('credentials', () => {
  test.each([
    ['any case of the scheme', (text: string) => `bAsIc ${text}`],
    ['several spaces', (text: string) => `Basic   ${text}`],
    ['no padding', (text: string) => `Basic ${text.replace(/=+$/, '')}`],
  ])('are taken with %s', async (_name, header) => {
    const response = await authorize(header(base64(`${shop.clientId}:${shop.apiKey}`)));
    expect(response.statusCode).toBe(200);
  });

  test('have their own formats, and only a keyed hash of the key is stored', async () => {
    expect(shop.clientId).toMatch(/^mpc_[0-9a-f]{24}$/);
    expect(shop.apiKey).toMatch(/^mpa_[0-9a-f]{64}$/);
    const row = await service.db
      .selectFrom('merchant_users')
      .selectAll()
      .where('client_id', '=', shop.clientId)
      .executeTakeFirstOrThrow();
    expect(row.api_key_hash).toEqual(service.keyring.hash(shop.apiKey, shop.clientId));
    expect(
      JSON.stringify(await service.db.selectFrom('audit_log').selectAll().execute()),
    ).not.toContain('mpa_');
    expect(JSON.stringify(service.logs)).not.toContain('mpa_');
  });

  test('a new key ends the former one at once and keeps the client ID', async () => {
    const other = await addOlderMerchant(service);
    const renewed = await issueLegacyKey(operatorOf(service), service.keyring, other.user.id);
    expect(renewed.clientId).toBe(other.clientId);
    expectLegacyRefusal(await ask(service, other), 'apiKeyInvalid');
    expect((await ask(service, renewed)).statusCode).toBe(200);
  });

  test('a key may contain a colon: the first one separates it from the client ID', async () => {
    const other = await addOlderMerchant(service);
    const apiKey = 'a:b::c:';
    await service.db
      .updateTable('merchant_users')
      .set({ api_key_hash: service.keyring.hash(apiKey, other.clientId) })
      .where('id', '=', other.user.id)
      .execute();
    expect((await ask(service, { ...other, apiKey })).statusCode).toBe(200);
    expectLegacyRefusal(await ask(service, { ...other, apiKey: 'a' }), 'apiKeyInvalid');
  });

  test('survive a change of the master key', async () => {
    const old = Buffer.alloc(32, 1);
    const before = { ...service, keyring: createKeyring([old]) };
    const other = await addOlderMerchant(before);
    const after = createKeyring([Buffer.alloc(32, 2), old]);
    expect((await verifyUser(service.db, after, other)).user.id).toBe(other.user.id);
  });

  test('cost one look-up and one hash, whatever is wrong', async () => {
    const work = async (clientId: string) => {
      const hash = vi.fn(service.keyring.hash);
      const done: string[] = [];
      const db = service.db.withPlugin({
        transformQuery: ({ node }) => {
          done.push(node.kind);
          return node;
        },
        transformResult: async ({ result }) => result,
      });
      await verifyUser(db, { ...service.keyring, hash }, { clientId, apiKey: 'x' }).catch(() => 0);
      return { hashes: hash.mock.calls.length, queries: done };
    };
    const known = await work(shop.clientId);
    expect(known).toEqual({ hashes: 1, queries: ['SelectQueryNode'] });
    for (const id of [UNKNOWN_CLIENT, '', 'mpc_\0']) expect(await work(id)).toEqual(known);
  });
});

describe('403 for a merchant who may not use the API', () => {
  test('being inactive', async () => {
    const other = await addOlderMerchant(service);
    await setMerchant(operatorOf(service), other.merchant.id, { status: 'inactive' });
    expectLegacyRefusal(await ask(service, other), 'merchantInactive');
    expectLegacyRefusal(await ask(service, other, { body: BODY }), 'merchantInactive');
  });

  test('in the US and not approved', async () => {
    const us = await addOlderMerchant(service, { kind: 'us', approved: false });
    expectLegacyRefusal(await ask(service, us), 'onboardingIncomplete');
  });

  test('whose partner has not switched self-service on', async () => {
    const { partner } = await addPartner(service, { selfService: false });
    const linked = await addOlderMerchant(service, { partnerId: partner.id });
    expectLegacyRefusal(await ask(service, linked), 'selfServiceOff');
    await setPartner(operatorOf(service), partner.id, { selfService: true });
    expect((await ask(service, linked)).statusCode).toBe(200);
    await setPartner(operatorOf(service), partner.id, { status: 'inactive' });
    expectLegacyRefusal(await ask(service, linked), 'selfServiceOff');
  });
});

test('use is counted by merchant, UTC day and route, without refused requests', async () => {
  const other = await addOlderMerchant(service);
  const usage = async (since?: string) =>
    (await listLegacyUsage(service.db, since))
      .filter(({ merchantId }) => merchantId === other.merchant.id)
      .map(({ route, requests, firstDay, lastDay }) => [route, requests, firstDay, lastDay]);
  expect(await usage()).toEqual([]);
  await ask(service, other);
  await ask(service, { ...other, apiKey: 'wrong' });
  await ask(service, other, { path: '/external/nothing' });
  const second = { ...other, ...(await addAdmin(service, other.merchant.id)) };
  await Promise.all(Array.from({ length: 10 }, () => ask(service, second)));
  await ask(service, other, { body: '{' });
  await ask(service, other, { path: `${PROMPT}/none` });
  const [today, tomorrow] = ['2026-05-17', '2026-05-18'];
  service.clock.now += 12 * 3_600_000;
  await ask(service, other, { path: `${PROMPT}/none` });
  expect(await usage()).toEqual([
    [`GET ${ACTIVE}`, 11, today, today],
    [`GET ${PROMPT}/:id`, 2, today, tomorrow],
    [`POST ${PROMPT}`, 1, today, today],
  ]);
  expect(await usage(tomorrow)).toEqual([[`GET ${PROMPT}/:id`, 1, tomorrow, tomorrow]]);
});

test('a count that fails refuses nothing', async () => {
  await service.db.schema.alterTable('legacy_usage').renameTo('elsewhere').execute();
  const response = await ask(service, shop).finally(() =>
    service.db.schema.alterTable('elsewhere').renameTo('legacy_usage').execute(),
  );
  expect(response.statusCode).toBe(200);
  expect(service.logs).toContainEqual(
    expect.objectContaining({ msg: 'use of the older contract was not counted' }),
  );
});

describe('rate limits', () => {
  const LIMIT = 5;
  let replica: TestApp;
  beforeEach(async () => {
    replica = await startTestApp({ beside: service, env: { RATE_LIMIT_MAX: String(LIMIT) } });
  });
  afterEach(async () => {
    await replica.close();
  });
  const wrong = (address?: string) =>
    ask(replica, { ...shop, apiKey: 'wrong' }, address === undefined ? {} : { address });

  test('failures count against the address, and after that nothing from it is admitted', async () => {
    for (let time = 0; time < LIMIT; time++) expectLegacyRefusal(await wrong(), 'apiKeyInvalid');
    const limited = await wrong();
    expectLegacyRefusal(limited, 'tooManyRequests');
    expect(limited.headers['retry-after']).toBe('60');
    expectLegacyRefusal(await ask(replica, shop), 'tooManyRequests');
    // The same allowance as v1's, whose responses keep their own format.
    const v1 = await send(replica, shop, { path: '/external/v1/payments' });
    expect(v1.json().error.errorCode).toBe('E9001');
    expect((await ask(replica, shop, { address: '10.0.0.1' })).statusCode).toBe(200);
    service.clock.now += 60_000;
    expect((await ask(replica, shop)).statusCode).toBe(200);
  });

  test('unknown routes and unreadable paths count too', async () => {
    for (let time = 0; time < LIMIT; time++) {
      const path = time % 2 === 0 ? '/external/nothing' : '/external/%zz';
      expect([400, 404]).toContain((await replica.app.inject({ url: path })).statusCode);
    }
    const limited = await replica.app.inject({ url: '/external/nothing' });
    expectLegacyRefusal(limited, 'tooManyRequests');
    expectLegacyRefusal(await replica.app.inject({ url: '/external/%zz' }), 'tooManyRequests');
  });

  test('successes count against the client ID, from any address', async () => {
    for (let time = 0; time < LIMIT; time++) {
      const response = await ask(replica, shop, { address: `10.0.1.${time}` });
      expect(response.statusCode).toBe(200);
      expectLegacyHeaders(response);
    }
    const limited = await ask(replica, shop, { address: '10.0.1.99' });
    expectLegacyRefusal(limited, 'tooManyRequests');
    // Another user of the merchant has a separate allowance, and so do failures.
    const other = await addAdmin(service, shop.merchant.id);
    expect((await ask(replica, other, { address: '10.0.1.99' })).statusCode).toBe(200);
    expectLegacyRefusal(await wrong('10.0.1.99'), 'apiKeyInvalid');
  });

  test('a client that knows only the client ID cannot use it up', async () => {
    for (let time = 0; time < 3 * LIMIT; time++) await wrong('203.0.113.9');
    expect((await ask(replica, shop)).statusCode).toBe(200);
  });
});
