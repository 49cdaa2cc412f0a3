import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { IssuedKey } from '#accounts/keys/manage-keys.ts';
import { send } from '../helpers/signed-request.ts';
import { mpHere, type Operated, startOperated } from './mp.ts';

const UNKNOWN = '01890a5d-ac96-774b-bcce-b302099a8057';
const INSTANT = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const HOUR_MS = 3_600_000;

let service: Operated;
let shop: string;
beforeAll(async () => {
  service = await startOperated();
});
beforeEach(async () => {
  service.clock.now = 0;
  shop = await createMerchant();
});
afterAll(() => service.close());

async function createMerchant(): Promise<string> {
  const args = ['merchant', 'create', '--name', 'Shop', '--email', 'shop@example.com'];
  return (await service.ask<{ id: string }>(...args)).id;
}

function create(...flags: string[]): Promise<IssuedKey> {
  return service.ask<IssuedKey>('key', 'create', '--merchant', shop, '--name', 'K', ...flags);
}

/** The API's response to a key: the error's short code, or the status of a success. */
async function answerTo(key: IssuedKey, path = '/external/v1/blockchains/active') {
  const response = await send(service, key, { path });
  return response.statusCode < 300 ? response.statusCode : response.json().error.errorCode;
}

test('a created key works, with all scopes, and is shown once', async () => {
  const key = await service.ask<IssuedKey>('key', 'create', '--merchant', shop, '--name', 'Till');
  expect(key).toEqual({
    keyId: expect.stringMatching(/^mpk_[0-9a-f]{24}$/),
    secret: expect.stringMatching(/^mps_[0-9a-f]{64}$/),
    passphrase: expect.stringMatching(/^[\w-]{43}$/),
    scopes: ['payment_prompts:write', 'payment_prompts:read', 'blockchains:read'],
    expiresAt: null,
  });
  expect(await answerTo(key)).toBe(200);
  const listed = await service.ask('key', 'list', '--merchant', shop);
  expect(listed).toEqual([
    {
      keyId: key.keyId,
      name: 'Till',
      scopes: key.scopes,
      status: 'active',
      expiresAt: null,
      createdAt: INSTANT,
      rotatedAt: null,
      previousValidUntil: null,
    },
  ]);
  const { out } = await mpHere(['key', 'rotate', key.keyId], service.env);
  expect(out).toMatch(/\nsecret +mps_[0-9a-f]{64}\n/);
  expect(out).toContain('shown only once');
  expect(out).toContain('The old pair works for another 24 hours.');
});

test('a key has the scopes it was given', async () => {
  const key = await create('--scopes', 'blockchains:read,payment_prompts:read');
  expect(key.scopes).toEqual(['payment_prompts:read', 'blockchains:read']);
  expect(await answerTo(key)).toBe(200);
  const body = { amount: 5000 };
  const refused = await send(service, key, { path: '/external/v1/payments/prompt', body });
  expect(refused.json().error.errorCode).toBe('E2101');
});

test('a rotated key works with both pairs until the grace period is over', async () => {
  const old = await create();
  const key = await service.ask<IssuedKey>('key', 'rotate', old.keyId);
  expect(key).toMatchObject({ keyId: old.keyId, scopes: old.scopes, expiresAt: null });
  expect([await answerTo(key), await answerTo(old)]).toEqual([200, 200]);
  const mixed = { ...key, passphrase: old.passphrase };
  expect(await answerTo(mixed)).toBe('E2007');
  expect(await service.ask('key', 'list', '--merchant', shop)).toMatchObject([
    { status: 'active', rotatedAt: INSTANT, previousValidUntil: INSTANT },
  ]);
  service.clock.now = 24 * HOUR_MS;
  expect([await answerTo(key), await answerTo(old)]).toEqual([200, 'E2004']);
});

test('a key rotated --now works with the new pair only', async () => {
  const old = await create();
  const key = await service.ask<IssuedKey>('key', 'rotate', old.keyId, '--now');
  expect([await answerTo(key), await answerTo(old)]).toEqual([200, 'E2004']);
  expect(await service.ask('key', 'list', '--merchant', shop)).toMatchObject([
    { previousValidUntil: null },
  ]);
});

test('a revoked key is refused for good, and none of its secrets is left', async () => {
  const old = await create();
  const key = await service.ask<IssuedKey>('key', 'rotate', old.keyId);
  const revoked = await service.ask('key', 'revoke', key.keyId);
  expect(revoked).toMatchObject({ keyId: key.keyId, status: 'revoked', previousValidUntil: null });
  expect([await answerTo(key), await answerTo(old)]).toEqual(['E2005', 'E2005']);
  const row = await service.db
    .selectFrom('api_keys')
    .select(['secret', 'previous_secret'])
    .where('id', '=', key.keyId)
    .executeTakeFirst();
  expect(row).toEqual({ secret: null, previous_secret: null });
  expect(await service.refused('key', 'rotate', key.keyId)).toBe(
    `The key ${key.keyId} is revoked.`,
  );
  expect(await service.refused('key', 'revoke', key.keyId)).toBe(
    `The key ${key.keyId} is already revoked.`,
  );
});

test('an expired key is refused, and rotating does not extend it', async () => {
  const expiresAt = new Date(Date.now() + HOUR_MS).toISOString();
  const old = await create('--expires-at', expiresAt);
  const key = await service.ask<IssuedKey>('key', 'rotate', old.keyId);
  expect([old.expiresAt, key.expiresAt]).toEqual([expiresAt, expiresAt]);
  expect(await answerTo(key)).toBe(200);
  service.clock.now = HOUR_MS;
  expect(await answerTo(key)).toBe('E2006');

  await service.db
    .updateTable('api_keys')
    .set({ expires_at: new Date(Date.now() - 1) })
    .where('id', '=', key.keyId)
    .execute();
  expect(await service.ask('key', 'list', '--merchant', shop)).toMatchObject([
    { status: 'expired' },
  ]);
  expect(await service.refused('key', 'rotate', key.keyId)).toContain('has expired');
  const past = ['--expires-at', '2020-01-01'];
  expect(
    await service.refused('key', 'create', '--merchant', shop, '--name', 'Late', ...past),
  ).toBe('The expiry date has already passed.');
});

test('a merchant has at most ten active keys, also when two are created concurrently', async () => {
  const first = await create();
  for (let count = 2; count <= 9; count++) await create();
  const args = ['key', 'create', '--merchant', shop, '--name', 'K'];
  const both = await Promise.all([mpHere(args, service.env), mpHere(args, service.env)]);
  expect(both.map(({ status }) => status).sort()).toEqual([0, 1]);
  expect(both.map(({ err }) => err).join('')).toBe(
    'The merchant has 10 active keys, which is the maximum; revoke one first.\n',
  );
  await service.ask('key', 'revoke', first.keyId);
  await create();
  expect(await service.refused(...args)).toContain('10 active keys');
});

test('a partner owner and a developer have keys of their own, with the scopes of their role', async () => {
  const partner = await service.ask<{ id: string }>('partner', 'create', '--name', 'Agency');
  const createFor = async (role: string, ...flags: string[]) => {
    const member = await service.ask<{ id: string }>(
      ...['member', 'create', '--partner', partner.id, '--name', role],
      ...['--email', `${role}@example.com`, '--role', role],
    );
    const key = ['key', 'create', '--member', member.id, '--name', role, ...flags];
    return service.ask<IssuedKey>(...key);
  };
  // The scopes stored with a member's key have no effect.
  const owner = await createFor('owner', '--scopes', 'partner_overview:read');
  const developer = await createFor('developer');
  const all = [
    'payment_prompts:write',
    ...['partner_overview:read', 'partner_merchants:read'],
    ...['partner_payments:read', 'partner_team:read'],
  ];
  const overview = ['partner_overview:read'];
  expect([owner.scopes, developer.scopes]).toEqual([all, overview]);
  const team = '/external/partner/team';
  expect([await answerTo(owner, team), await answerTo(developer, team)]).toEqual([200, 'E2101']);
  expect(await service.ask('key', 'list', '--partner', partner.id)).toMatchObject([
    { keyId: developer.keyId, name: 'developer', memberId: expect.any(String), scopes: overview },
    { keyId: owner.keyId, name: 'owner', memberId: expect.any(String), scopes: all },
  ]);
  const [rotated, revoked] = [
    await service.ask('key', 'rotate', developer.keyId),
    await service.ask('key', 'revoke', developer.keyId),
  ];
  expect([rotated, revoked]).toMatchObject([{ scopes: overview }, { scopes: overview }]);
});

test.each([
  [['create', '--merchant', UNKNOWN, '--name', 'A'], `There is no merchant ${UNKNOWN}.`],
  [['create', '--member', UNKNOWN, '--name', 'A'], `There is no partner member ${UNKNOWN}.`],
  [['list', '--merchant', UNKNOWN], `There is no merchant ${UNKNOWN}.`],
  [['list', '--partner', UNKNOWN], `There is no partner ${UNKNOWN}.`],
  [['rotate', `mpk_${'0'.repeat(24)}`], `There is no key mpk_${'0'.repeat(24)}.`],
  [['revoke', `mpk_${'0'.repeat(24)}`], `There is no key mpk_${'0'.repeat(24)}.`],
])('refuses what is unknown: mp key %j', async (args, message) => {
  expect(await mpHere(['key', ...args], service.env)).toEqual({
    status: 1,
    out: '',
    err: `${message}\n`,
  });
});

test('a scope of the other kind of key is refused', async () => {
  const args = ['key', 'create', '--merchant', shop, '--name', 'A', '--scopes'];
  expect(await service.refused(...args, 'partner_team:read')).toContain('partner_team:read');
});

test('neither the audit log nor the database has a readable secret', async () => {
  const old = await create();
  const key = await service.ask<IssuedKey>('key', 'rotate', old.keyId);
  await service.ask('key', 'revoke', (await create()).keyId);
  const log = await service.db.selectFrom('audit_log').selectAll().orderBy('at').execute();
  const actions = log.filter(({ object_id }) => object_id === key.keyId);
  expect(actions).toMatchObject([
    {
      actor: 'alice',
      action: 'key.create',
      object_type: 'key',
      detail: { merchantId: shop, name: 'K' },
    },
    { actor: 'alice', action: 'key.rotate', object_type: 'key', detail: { immediately: false } },
  ]);
  const rows = await service.db.selectFrom('api_keys').selectAll().execute();
  const bytes = rows.flatMap(row => Object.values(row).filter(Buffer.isBuffer));
  const stored = JSON.stringify(log) + bytes.map(value => value.toString('latin1')).join('\n');
  for (const { secret, passphrase } of [old, key]) {
    expect(stored).not.toContain(secret);
    expect(stored).not.toContain(secret.slice('mps_'.length));
    expect(stored).not.toContain(passphrase);
  }
});
