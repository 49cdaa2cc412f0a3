import { randomUUID } from 'node:crypto';
import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { revokeKey } from '#accounts/keys/manage-keys.ts';
import { KEY_PAUSE_MS } from '#accounts/requests/deferred-explanations.ts';
import { DeferredWrites } from '#accounts/requests/deferred-writes.ts';
import { signingHeaders } from '#client/index.ts';
import {
  addKey,
  addMerchant,
  addPartner,
  type MerchantWithKey,
  operatorOf,
  type PartnerWithKey,
} from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { cloneDatabase, type TestDatabase } from '../../helpers/database.ts';
import { requestPrompt } from '../../helpers/prompts.ts';
import { send } from '../../helpers/signed-request.ts';

const LIST = '/external/v1/payments';

const writes = vi.spyOn(DeferredWrites.prototype, 'flush');
let database: TestDatabase;
let service: TestApp;
let shop: MerchantWithKey;
let partner: PartnerWithKey;

beforeAll(async () => {
  database = await cloneDatabase();
  service = await startTestApp({ database });
  // Away from the end of a minute.
  service.clock.now += 30_000;
  shop = await addMerchant(service);
  partner = await addPartner(service);
});
afterAll(async () => {
  writes.mockRestore();
  await database.drop();
});

/** Runs a separate application, which writes its records when it stops. */
async function recorded(
  ask: (app: TestApp) => Promise<readonly LightMyRequestResponse[]>,
  env: Record<string, string> = {},
) {
  await database.db.deleteFrom('request_log').execute();
  const app = await startTestApp({ beside: service, env });
  const answers = await ask(app);
  await app.close();
  // The application does not wait long for its last write.
  await Promise.all(writes.mock.results.map(({ value }) => value));
  const rows = await database.db.selectFrom('request_log').selectAll().orderBy('id').execute();
  return { answers, rows, ids: answers.map(({ headers }) => headers['x-request-id']) };
}

const create = (app: TestApp, body: unknown = { amount: 5000 }, key?: string) =>
  requestPrompt(app, shop, body, key === undefined ? {} : { 'idempotency-key': key });

test('failures and creations of a key are stored, each with its details', async () => {
  const body = { amount: 5000, customerReferenceId: 'jane-doe@customer.example' };
  const key = randomUUID();
  const { answers, rows, ids } = await recorded(async app => [
    await create(app, body, key),
    await create(app, body, key),
    await create(app, { ...body, amount: 6000 }, key),
    await create(app, body),
    await create(app, { amount: 1 }),
    await create(app, { amount: 5000, payer: 'Jane' }),
    await send(app, shop, { path: `${LIST}/${randomUUID()}` }),
    await send(app, shop, { path: `${LIST}?limit=0` }),
    await send(app, partner, { path: LIST }),
    await send(app, shop, { path: LIST }),
    await send(app, partner, { path: '/external/partner/overview' }),
  ]);
  const [made, , , alone] = answers.map(answer => answer.json());
  expect(rows.map(({ id }) => id)).toEqual(ids.slice(0, -2));
  const of = ({ status, error_code, param, replayed, payment_id }: (typeof rows)[number]) => ({
    status,
    error_code,
    param,
    replayed,
    payment_id,
  });
  const failed = { replayed: false, payment_id: null, param: null };
  expect(rows.map(of)).toEqual([
    { ...failed, status: 201, error_code: null, payment_id: made.prompt.id },
    { ...failed, status: 201, error_code: null, payment_id: made.prompt.id, replayed: true },
    { ...failed, status: 409, error_code: 'E4002' },
    { ...failed, status: 201, error_code: null, payment_id: alone.prompt.id },
    { ...failed, status: 400, error_code: 'E1001', param: 'amount' },
    { ...failed, status: 400, error_code: 'E1002', param: 'payer' },
    { ...failed, status: 404, error_code: 'E3001' },
    { ...failed, status: 400, error_code: 'E1001', param: 'limit' },
    { ...failed, status: 401, error_code: 'E2008' },
  ]);
  expect(rows.every(({ verified, requests }) => verified && requests === 1)).toBe(true);
  expect(rows.map(({ account_id }) => account_id)).toEqual([
    ...Array(8).fill(shop.merchant.id),
    partner.partner.id,
  ]);
  expect(rows[0]).toMatchObject({
    method: 'POST',
    target: `${LIST}/prompt`,
    address: '127.0.0.1',
    key_id: shop.keyId,
  });
  expect(JSON.stringify(rows)).not.toContain('jane-doe');
});

test('reads are stored in mode “all”, and nothing in mode “off”', async () => {
  const ask = async (app: TestApp) => [
    await send(app, shop, { path: LIST }),
    await create(app),
    await create(app, { amount: 1 }),
    await send(app, { ...shop, secret: partner.secret }, { path: LIST }),
  ];
  const all = await recorded(ask, { REQUEST_LOG: 'all' });
  expect(all.rows.map(({ id }) => id)).toEqual(all.ids);
  expect((await recorded(ask, { REQUEST_LOG: 'off' })).rows).toEqual([]);
});

test('under load every failure and every creation is stored once', async () => {
  const { answers, rows } = await recorded(async app => {
    const asked: Promise<LightMyRequestResponse>[] = [];
    for (let n = 0; n < 60; n++) {
      const key = `order ${n % 20}`;
      asked.push(create(app, { amount: 5000 + (n % 20) }, key), create(app, { amount: n }));
      asked.push(send(app, shop, { path: `${LIST}?limit=${n % 2}` }));
      asked.push(send(app, partner, { path: `${LIST}?limit=5` }));
    }
    return Promise.all(asked);
  });
  const expected = answers
    .filter(({ statusCode }) => statusCode >= 400 || statusCode === 201)
    .map(({ headers }) => headers['x-request-id']);
  expect(rows.map(({ id }) => id).toSorted()).toEqual(expected.toSorted());
});

test('unverified requests are one row per minute, and unknown keys are left out', async () => {
  const revoked = await addKey(service, { merchantId: shop.merchant.id });
  await revokeKey(operatorOf(service), revoked.keyId);
  const unknown = { ...shop, keyId: 'mpk_000000000000000000000000' };
  const { rows, ids } = await recorded(async app => [
    await send(app, shop, { path: LIST, headers: { 'x-mp-timestamp': 'now' } }),
    await send(app, shop, { path: LIST, now: 0 }),
    await send(app, shop, { path: `${LIST}?limit=1`, now: 0 }),
    await send(app, { ...shop, passphrase: 'none' }, { path: LIST }),
    await send(app, revoked, { path: LIST }),
    await send(app, shop, { path: '/external/v1/payment?limit=1' }),
    await send(app, shop, { path: '/external/v1/payment?limit=1' }),
    await send(app, unknown, { path: LIST }),
    await send(app, { ...shop, keyId: 'anything' }, { path: LIST }),
    await send(app, shop, { path: LIST, headers: { 'x-mp-signature': undefined } }),
  ]);
  const counted = rows.map(({ id, error_code, requests, verified, key_id, target }) => ({
    id,
    error_code,
    requests,
    verified,
    key_id,
    target,
  }));
  const mine = { key_id: shop.keyId, verified: false, requests: 1, target: LIST };
  expect(counted).toEqual([
    { ...mine, id: ids[0], error_code: 'E2002' },
    { ...mine, id: ids[1], error_code: 'E2003', requests: 2 },
    { ...mine, id: ids[3], error_code: 'E2004' },
    { ...mine, id: ids[4], error_code: 'E2005', key_id: revoked.keyId },
    {
      ...mine,
      id: ids[5],
      error_code: 'E3001',
      requests: 2,
      target: '/external/v1/payment?limit=1',
    },
  ]);
  expect(rows.every(({ at }) => at.getTime() % 60_000 === 0)).toBe(true);
});

test('a few wrong signatures are explained, in production too, where the response says nothing', async () => {
  const production = {
    NODE_ENV: 'production',
    DATABASE_URL: service.databaseUrl,
    MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
  };
  const path = `${LIST}?limit=5`;
  const mistaken = (app: TestApp, keys: MerchantWithKey | PartnerWithKey) => {
    const headers = signingHeaders(keys, { method: 'GET', path: LIST, now: service.clock() });
    return app.app.inject({ method: 'GET', url: path, headers });
  };
  const { answers, rows } = await recorded(async app => {
    const first = [
      await mistaken(app, shop),
      await mistaken(app, shop),
      await mistaken(app, partner),
    ];
    service.clock.now += KEY_PAUSE_MS;
    return [...first, await mistaken(app, partner)];
  }, production);
  for (const { body } of answers) expect(body).not.toContain('without its query');
  const finding = { component: 'query', made: 'the path without its query' };
  const explained = { readable: true, findings: [expect.objectContaining(finding)] };
  expect(
    rows.map(({ key_id, requests, explanation }) => ({ key_id, requests, explanation })),
  ).toEqual([
    { key_id: shop.keyId, requests: 2, explanation: expect.objectContaining(explained) },
    { key_id: partner.keyId, requests: 2, explanation: expect.objectContaining(explained) },
  ]);
});

test('secrets in a target or a field are not stored in any form, and long values are cut', async () => {
  const bare = shop.secret.slice(4);
  const legacy = `mpa_${bare.toUpperCase()}`;
  const encode = (text: string) =>
    text.replaceAll(/[^/]/g, c => `%${c.charCodeAt(0).toString(16)}`);
  const hash = 'f00d'.repeat(16);
  const targets: [string, string][] = [
    [`?secret=${shop.secret}&limit=1`, '?secret=mps_***&limit=1'],
    [`?p=${shop.passphrase}`, '?p=***'],
    [`?p=${encode(shop.passphrase)}`, '?p=***'],
    [`?secret=${bare}&a=%c3%a9`, '?secret=***&a=%c3%a9'],
    [`?secret=0x${bare}`, '?secret=0x***'],
    [`?secret=${encode(bare)}`, '?secret=***'],
    [`?secret=mps%5F${bare}&a=1`, '?secret=mps%***&a=1'],
    [`?a=b%2Fmps%25255F${bare}`, '?a=b%2Fmps%***'],
    [`?secret=mps%255F${encode(bare)}`, '?secret=mps_***'],
    [`?apiKey=${legacy}`, '?apiKey=mpa_***'],
    [`?${'x'.repeat(4_050)}${shop.secret}`, `?${'x'.repeat(1_024 - LIST.length - 1)}`],
    ['?a=%2F%zz', '?a=%2F%zz'],
    [`?txHash=${hash}&search=0x${hash}`, `?txHash=${hash}&search=0x${hash}`],
  ];
  const fields = [shop.passphrase, shop.secret, bare, legacy, `mps%5F${bare}`];
  const { rows } = await recorded(async app => [
    ...(await Promise.all(targets.map(([query]) => send(app, shop, { path: LIST + query })))),
    await create(app, { amount: 5000, [`${'\u0000\ud800'}é${'y'.repeat(300)}`]: 1 }),
    ...(await Promise.all(fields.map(field => create(app, { amount: 5000, [field]: 1 })))),
  ]);
  const kept = rows.map(({ target }) => target).filter(target => target.startsWith(`${LIST}?`));
  expect(kept.toSorted()).toEqual(targets.map(([, masked]) => LIST + masked).toSorted());
  const params = rows.map(({ param }) => param);
  expect(params).toContain(`?\ufffdé${'y'.repeat(61)}`);
  expect(params.filter(param => param?.includes('***')).toSorted()).toEqual([
    '***',
    '***',
    'mpa_***',
    'mps%***',
    'mps_***',
  ]);
  const log = JSON.stringify(rows).toLowerCase();
  for (const secret of [bare, shop.passphrase.toLowerCase()]) expect(log).not.toContain(secret);
});
