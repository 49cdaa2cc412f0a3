import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rotateKey } from '#accounts/keys/manage-keys.ts';
import { openAccess, sealAccess } from '#chains/nodes/node-access.ts';
import { createKeyring } from '#crypto/keyring.ts';
import { newId } from '#crypto/new-id.ts';
import { createEndpoint } from '#payments/webhooks/manage-endpoints.ts';
import { findNode, insertNode, updateNode } from '#storage/repositories/chains/nodes.ts';
import { countUnderOthers } from '#storage/repositories/keys/master-keys.ts';
import { addKey, operatorOf } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { addPerson, codeAt, cookieOf, PASSWORD, submit, type Visitor } from '../helpers/panel.ts';
import { send } from '../helpers/signed-request.ts';
import { addOlderMerchant, ask, type OlderMerchant } from '../surfaces/legacy/older-contract.ts';
import { type Environment, mpHere } from './mp.ts';

/** The output of `mp master-key reseal --json`. */
interface Report {
  readonly masterKeyVersion: number;
  readonly apiKeysResealed: number;
  readonly webhookSecretsResealed: number;
  readonly nodesResealed: number;
  readonly apiKeysLeft: number;
  readonly legacyKeysLeft: number;
  readonly nodesLeft: number;
  readonly lapsing: boolean;
  readonly retiredVersions: number[];
}

const [FIRST, SECOND] = [randomBytes(32), randomBytes(32)];
const former = createKeyring([FIRST]);
const current = createKeyring([SECOND, FIRST]);
const alone = createKeyring([SECOND]);
const ACCESS = { url: 'https://node.example/v1/key', headers: { 'x-key': 'secret' } };
const clock = Object.assign(() => Date.now(), { now: 0 });

let base: TestApp;
let shop: OlderMerchant;
let rotated: Awaited<ReturnType<typeof addKey>>;
let endpointId: string;
let nodeId: string;
let admin: Visitor;
const opened: TestApp[] = [];

async function open(keyring: typeof former): Promise<TestApp> {
  const app = await startTestApp({ beside: { ...base, keyring, clock } });
  opened.push(app);
  return app;
}

beforeAll(async () => {
  base = await startTestApp();
  const before = await open(former);
  shop = await addOlderMerchant(before);
  rotated = await addKey(before, { merchantId: shop.merchant.id });
  const operator = operatorOf(before);
  const { endpoint } = await createEndpoint(operator, former, {
    merchantId: shop.merchant.id,
    url: 'https://shop.example/hooks',
    allowPrivateAddresses: false,
  });
  endpointId = endpoint.id;
  await addNode(former);
  admin = await addPerson({ ...base, keyring: former }, { withPassword: true });
});
afterAll(async () => {
  for (const app of opened) await app.close();
  await base.close();
});

/** A node that was verified some time ago. */
async function addNode(keyring: typeof former): Promise<void> {
  const at = new Date();
  nodeId = newId();
  await insertNode(base.db, {
    id: nodeId,
    chain: 'eth-test',
    role: 'primary',
    position: 1,
    label: 'node.example',
    access: sealAccess(keyring, nodeId, ACCESS),
    master_key_version: keyring.currentVersion,
    requests_per_second: 10,
    abilities: { trace: null, logRange: null, batch: 1, archive: false, pruneHeight: null },
    verified_at: at,
    created_at: at,
    updated_at: at,
  });
}

function env(...keys: Buffer[]): Environment {
  const [MASTER_KEY, ...previous] = keys.map(key => key.toString('base64'));
  return { DATABASE_URL: base.databaseUrl, MASTER_KEY, MASTER_KEYS_PREVIOUS: previous.join() };
}

async function reseal(): Promise<Report> {
  const { out, err } = await mpHere(['master-key', 'reseal', '--json'], env(SECOND, FIRST));
  expect(err).toBe('');
  return JSON.parse(out);
}

const keyRow = () =>
  base.db.selectFrom('api_keys').selectAll().where('id', '=', shop.keyId).executeTakeFirstOrThrow();
const endpointRow = () =>
  base.db
    .selectFrom('webhook_endpoints')
    .selectAll()
    .where('id', '=', endpointId)
    .executeTakeFirstOrThrow();
const statusOf = async (app: TestApp, key: typeof rotated) =>
  (await send(app, key, { path: '/external/v1/blockchains/active' })).statusCode;

test('a wrong master key is refused, by name', async () => {
  expect((await mpHere(['network', 'list'], env(FIRST))).status).toBe(0);
  const { status, out, err } = await mpHere(['network', 'list'], env(SECOND));
  expect({ status, out }).toEqual({ status: 1, out: '' });
  expect(err).toMatch(/^The database has secrets under a master key .* MASTER_KEY .*\n$/);
});

test('secrets are resealed at once, and hashes when they are used', async () => {
  expect(await reseal()).toEqual({
    masterKeyVersion: alone.currentVersion,
    apiKeysResealed: 2,
    webhookSecretsResealed: 1,
    nodesResealed: 1,
    authenticatorAppsResealed: 1,
    apiKeysLeft: 2,
    legacyKeysLeft: 1,
    passwordsLeft: 1,
    nodesLeft: 0,
    lapsing: false,
    retiredVersions: [],
  });
  const [key, endpoint] = [await keyRow(), await endpointRow()];
  expect(alone.open(key.secret as Buffer, key.id, key.master_key_version)).toBe(shop.secret);
  expect(alone.open(endpoint.secret, endpoint.id, endpoint.master_key_version)).toMatch(/^whsec_/);
  const node = (await findNode(base.db, nodeId)) ?? expect.unreachable();
  expect(openAccess(alone, node)).toEqual(ACCESS);
  expect(key.passphrase_hash).toEqual(former.hash(shop.passphrase, shop.keyId));

  const app = await open(current);
  expect(await statusOf(app, shop)).toBe(200);
  expect((await keyRow()).passphrase_hash).toEqual(alone.hash(shop.passphrase, shop.keyId));
  expect(await statusOf(app, shop)).toBe(200);
  expect(await reseal()).toMatchObject({ apiKeysResealed: 0, apiKeysLeft: 1, legacyKeysLeft: 1 });
});

test('a key that is rotated in between works with both of its pairs', async () => {
  const app = await open(current);
  const fresh = await rotateKey(operatorOf(app), current, rotated.keyId, false);
  expect(await statusOf(app, rotated)).toBe(200);
  expect(await statusOf(app, { ...rotated, ...fresh })).toBe(200);
  expect(await reseal()).toMatchObject({ apiKeysLeft: 0, legacyKeysLeft: 1, lapsing: true });
});

test('a former key is needed while anything is stored under it, and then no longer', async () => {
  const app = await open(current);
  expect((await ask(app, shop)).statusCode).toBe(200);
  expect(await reseal()).toMatchObject({ legacyKeysLeft: 0, passwordsLeft: 1 });
  const { email, secret } = admin;
  const half = await submit(app, '/panel/sign-in', { email, password: PASSWORD });
  const code = codeAt(secret, app.clock());
  const full = await submit(app, '/panel/sign-in/code', { code }, { cookie: cookieOf(half) });
  expect(full.statusCode).toBe(303);
  const resealed = await reseal();
  expect(resealed).toMatchObject({ passwordsLeft: 0, lapsing: true, retiredVersions: [] });
  expect((await mpHere(['network', 'list'], env(SECOND))).status).toBe(1);
  const ended = { previous_valid_until: new Date(Date.now() - 1) };
  await base.db
    .updateTable('api_keys')
    .set(ended)
    .where('previous_valid_until', 'is not', null)
    .execute();
  expect(await reseal()).toMatchObject({
    lapsing: false,
    retiredVersions: [former.currentVersion],
  });
  expect((await mpHere(['network', 'list'], env(SECOND))).status).toBe(0);
  const later = await open(alone);
  expect(await statusOf(later, shop)).toBe(200);
  expect((await ask(later, shop)).statusCode).toBe(200);
  expect(await reseal()).toMatchObject({ retiredVersions: [] });
});

test('a node that was added under a former key holds that key back', async () => {
  const { currentVersion } = former;
  await updateNode(base.db, nodeId, {
    access: sealAccess(former, nodeId, ACCESS),
    master_key_version: currentVersion,
  });
  const left = await countUnderOthers(base.db, alone.currentVersion, new Date());
  expect(left).toMatchObject({ nodes: 1 });
  expect(await reseal()).toMatchObject({ nodesResealed: 1, nodesLeft: 0 });
});

test('a stored response holds its master key back', async () => {
  const key = await addKey(await open(current), { merchantId: shop.merchant.id });
  const creation = {
    path: '/external/v1/payments/prompt',
    body: { amount: 5000 },
    headers: { 'idempotency-key': 'held' },
  };
  const behind = await open(createKeyring([FIRST, SECOND]));
  expect((await send(behind, key, creation)).statusCode).toBe(201);
  expect((await ask(behind, shop)).statusCode).toBe(200);
  // A process that has the new key as a former one reverts nothing either.
  expect(await reseal()).toMatchObject({ lapsing: true, apiKeysLeft: 0, legacyKeysLeft: 0 });
});

test('it is written to the audit log, and says what is left to do', async () => {
  const [entry] = JSON.parse((await mpHere(['audit', '--json'], env(SECOND, FIRST))).out);
  expect(entry).toMatchObject({ actor: 'alice', action: 'master-key.reseal' });
  const { out } = await mpHere(['master-key', 'reseal'], env(SECOND, FIRST));
  expect(out).toMatch(/\nlapsing +true\n/);
  expect(out).toContain('run this again');
});
