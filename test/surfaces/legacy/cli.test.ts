import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mpHere, type Operated, startOperated } from '../../cli/mp.ts';
import { ask, expectLegacyRefusal } from './older-contract.ts';

const UNKNOWN = '01890a5d-ac96-774b-bcce-b302099a8057';

interface Issued {
  clientId: string;
  apiKey: string;
}

let service: Operated;
let shop: string;
beforeAll(async () => {
  service = await startOperated();
  const args = ['--name', 'Old Shop', '--email', 'shop@example.com'];
  shop = (await service.ask<{ id: string }>('merchant', 'create', ...args)).id;
});
afterAll(() => service.close());

const createUser = (role: string, name = 'Ada') =>
  service.ask<{ id: string }>(
    ...['user', 'create', '--merchant', shop, '--name', name],
    ...['--email', 'ada@example.com', '--role', role],
  );

test('a user is created, gets a working key, is changed and listed', async () => {
  const args = ['--merchant', shop, '--name', 'Ada', '--email', 'ada@example.com'];
  const user = await service.ask<{ id: string }>('user', 'create', ...args, '--role', 'admin');
  expect(Object.keys(user)[0]).toBe('id');
  expect(user).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    merchantId: shop,
    name: 'Ada',
    email: 'ada@example.com',
    role: 'admin',
    status: 'active',
    clientId: null,
    signsIn: false,
    createdAt: expect.stringMatching(/Z$/),
  });

  const key = await service.ask<Issued>('user', 'legacy-key', user.id);
  expect(key).toEqual({
    clientId: expect.stringMatching(/^mpc_[0-9a-f]{24}$/),
    apiKey: expect.stringMatching(/^mpa_[0-9a-f]{64}$/),
  });
  expect((await ask(service, key)).statusCode).toBe(200);
  const renewed = await service.ask<Issued>('user', 'legacy-key', user.id);
  expect(renewed.clientId).toBe(key.clientId);
  expectLegacyRefusal(await ask(service, key), 'apiKeyInvalid');
  expect((await ask(service, renewed)).statusCode).toBe(200);

  const off = await service.ask('user', 'set', user.id, '--status', 'inactive');
  expect(off).toMatchObject({ id: user.id, status: 'inactive', clientId: key.clientId });
  expectLegacyRefusal(await ask(service, renewed), 'userInactive');
  await service.ask('user', 'set', user.id, '--status', 'active', '--role', 'member');
  expectLegacyRefusal(await ask(service, renewed), 'userNotAdmin');

  const list = await service.ask<object[]>('user', 'list', '--merchant', shop);
  expect(list).toEqual([{ ...user, role: 'member', clientId: key.clientId }]);

  const audit = await service.db
    .selectFrom('audit_log')
    .select(['actor', 'action', 'object_type', 'detail'])
    .where('object_id', '=', user.id)
    .orderBy('at')
    .orderBy('id')
    .execute();
  expect(audit.map(({ actor, action, object_type: type }) => [actor, action, type])).toEqual([
    ['alice', 'user.create', 'user'],
    ['alice', 'user.legacy-key', 'user'],
    ['alice', 'user.legacy-key', 'user'],
    ['alice', 'user.set', 'user'],
    ['alice', 'user.set', 'user'],
  ]);
  expect(JSON.stringify(audit)).not.toContain('mpa_');
});

test('the output says that the key is shown once', async () => {
  const { id } = await createUser('admin', 'Grace');
  const { out } = await mpHere(['user', 'legacy-key', id], service.env);
  expect(out).toMatch(
    /^clientId +mpc_[0-9a-f]{24}\napiKey +mpa_[0-9a-f]{64}\n\nThe API key is shown/,
  );
});

test('invalid input is refused', async () => {
  const { id } = await createUser('member');
  expect(await service.refused('user', 'legacy-key', id)).toBe(
    'The user is active and member; only an active admin may have a key.',
  );
  for (const args of [
    ['legacy-key', UNKNOWN],
    ['set', UNKNOWN, '--role', 'admin'],
  ]) {
    expect(await service.refused('user', ...args)).toBe(`There is no user ${UNKNOWN}.`);
  }
  for (const args of [
    ['list', '--merchant', UNKNOWN],
    ['create', '--merchant', UNKNOWN, '--name', 'A', '--email', 'a@b.de', '--role', 'admin'],
  ]) {
    expect(await service.refused('user', ...args)).toBe(`There is no merchant ${UNKNOWN}.`);
  }
});

test('usage is listed by merchant and route, from a day on', async () => {
  const { id } = await createUser('admin', 'Linus');
  const key = await service.ask<Issued>('user', 'legacy-key', id);
  const before = await service.ask<{ requests: number }[]>('legacy', 'usage');
  const today = () => new Date(service.clock()).toISOString().slice(0, 10);
  const days = [today()];
  await ask(service, key);
  // The next day, if midnight has passed meanwhile.
  days.push(today());
  const [usage] = await service.ask<Record<string, unknown>[]>('legacy', 'usage');
  expect(usage).toEqual({
    merchantId: shop,
    merchantName: 'Old Shop',
    route: 'GET /external/blockchains/active',
    requests: (before[0]?.requests ?? 0) + 1,
    firstDay: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
    lastDay: expect.toBeOneOf(days),
  });
  expect(await service.ask('legacy', 'usage', '--since', days[0] ?? '')).toHaveLength(1);
  expect(await service.ask('legacy', 'usage', '--since', '2999-01-01')).toEqual([]);
  const table = await mpHere(['legacy', 'usage'], service.env);
  expect(table.out).toMatch(/^merchantId +merchantName +route +requests +firstDay +lastDay\n/);
});

describe('help and wrong usage', () => {
  test.each([
    ['user', ['create', 'list', 'set', 'legacy-key']],
    ['legacy', ['usage']],
  ])('of %s', async (noun, verbs) => {
    const { status, out } = await mpHere([noun, '--help']);
    expect(status).toBe(0);
    for (const verb of verbs) {
      expect(out).toMatch(new RegExp(`\n  ${verb} .*[a-z]`));
      expect((await mpHere([noun, verb, '--help'])).out).toContain('--json');
    }
  });

  test.each([
    [['user', 'create', '--merchant', UNKNOWN, '--name', 'A', '--email', 'a@b.de']],
    [
      [
        'user',
        'create',
        '--merchant',
        UNKNOWN,
        '--name',
        'A',
        '--email',
        'a@b.de',
        '--role',
        'owner',
      ],
    ],
    [['user', 'set', UNKNOWN]],
    [['user', 'set', UNKNOWN, '--status', 'deleted']],
    [['user', 'legacy-key', 'ada']],
    [['user', 'list']],
    [['legacy', 'usage', '--since', 'yesterday']],
  ])('mp %j', async args => {
    expect(await mpHere(args, service.env)).toMatchObject({ status: 2, out: '' });
  });
});
