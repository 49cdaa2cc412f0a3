import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertAuditEntry } from '../../src/repositories/audit-log.ts';
import { mpHere, type Operated, startOperated } from './mp.ts';

const UNKNOWN = '01890a5d-ac96-774b-bcce-b302099a8057';
const LONG_AGO = new Date('2020-02-02T00:00:00.000Z');

interface Entry {
  id: string;
  at: string;
  actor: string;
  action: string;
  objectType: string;
  objectId: string;
  detail: Record<string, unknown>;
}

let service: Operated;
let shop: string;
let keyId: string;
beforeAll(async () => {
  service = await startOperated();
  const merchant = ['merchant', 'create', '--name', 'Blue Coffee', '--email', 'hi@coffee.example'];
  shop = (await service.ask<{ id: string }>(...merchant)).id;
  const key = ['key', 'create', '--merchant', shop, '--name', 'Web shop'];
  keyId = (await service.ask<{ keyId: string }>(...key)).keyId;
  const bob = { ...service.env, MP_ACTOR: 'Bob B.' };
  expect((await mpHere(['key', 'rotate', keyId, '--now'], bob)).status).toBe(0);
  expect((await mpHere(['network', 'set', 'btc', '--active', 'off'], bob)).status).toBe(0);
  // At one moment, so that only their IDs tell them apart.
  for (const action of ['first', 'second', 'third']) {
    await insertAuditEntry(service.db, {
      actor: 'clock',
      action,
      objectType: 'clock',
      objectId: 'one moment',
      detail: {},
      now: LONG_AGO,
    });
  }
});
afterAll(() => service.close());

const actionsOf = async (...flags: string[]) =>
  (await service.ask<Entry[]>('audit', ...flags)).map(({ action }) => action);

test('lists who changed what, newest first, a line each', async () => {
  const entries = await service.ask<Entry[]>('audit');
  expect(entries.map(({ actor, action }) => `${actor} ${action}`)).toEqual([
    'Bob B. network.set',
    'Bob B. key.rotate',
    'alice key.create',
    'alice merchant.create',
    'clock third',
    'clock second',
    'clock first',
  ]);
  expect(entries[1]).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    actor: 'Bob B.',
    action: 'key.rotate',
    objectType: 'key',
    objectId: keyId,
    detail: { immediately: true },
  });
  const { status, out } = await mpHere(['audit'], service.env);
  expect(status).toBe(0);
  const [head = '', ...lines] = out.trimEnd().split('\n');
  expect(head).toMatch(/^at +actor +action +object +detail$/);
  expect(lines).toHaveLength(entries.length);
  expect(lines[1]).toMatch(
    new RegExp(`^${entries[1]?.at}  Bob B\\.  key\\.rotate +key ${keyId} +immediately=true$`),
  );
  expect(lines[2]).toContain('name="Web shop"');
  expect(lines[2]).toContain(`merchantId=${shop}`);
});

test('takes time, operator and object', async () => {
  expect(await actionsOf('--actor', 'Bob B.')).toEqual(['network.set', 'key.rotate']);
  expect(await actionsOf('--actor', 'Bob')).toEqual([]);
  expect(await actionsOf('--object', keyId)).toEqual(['key.rotate', 'key.create']);
  expect(await actionsOf('--object', shop.toUpperCase())).toEqual(['merchant.create']);
  expect(await actionsOf('--object', 'btc')).toEqual(['network.set']);
  expect(await actionsOf('--object', keyId, '--actor', 'alice')).toEqual(['key.create']);
  expect(await actionsOf('--since', '2020-02-02')).toHaveLength(7);
  expect(await actionsOf('--since', '2020-02-02T00:00:00.001Z')).toHaveLength(4);
  expect(await actionsOf('--since', '2100-01-01')).toEqual([]);
});

test('goes on where a page ended, also within one moment', async () => {
  const walked: string[] = [];
  let before: string[] = [];
  for (;;) {
    const [entry, ...more] = await service.ask<Entry[]>('audit', '--limit', '1', ...before);
    expect(more).toEqual([]);
    if (entry === undefined) break;
    walked.push(entry.id);
    before = ['--before', entry.id];
  }
  expect(walked).toEqual((await service.ask<Entry[]>('audit')).map(({ id }) => id));
  const { out } = await mpHere(['audit', '--limit', '2'], service.env);
  expect(out).toContain(`\n\nThere may be more: --before ${walked[1]}\n`);
  expect(await service.refused('audit', '--before', UNKNOWN)).toBe(
    `There is no audit entry ${UNKNOWN}.`,
  );
});
