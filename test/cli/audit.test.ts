import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '#crypto/new-id.ts';
import { observeTransfer } from '#onchain/settlement/observe-transfer.ts';
import { insertAuditEntry } from '#storage/repositories/accounts/audit-log.ts';
import { ADDRESSES, addMerchant } from '../helpers/accounts.ts';
import { addOpenPayment } from '../helpers/open-payment.ts';
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

/** A test vector of BIP-173. */
const OTHERS = 'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3';

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
  // With the same time, so that only their IDs order them.
  for (const action of ['first', 'second', 'third']) {
    await insertAuditEntry(service.db, {
      id: newId(),
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

test('lists who changed what, newest first, one line each', async () => {
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

test('filters by time, operator and object', async () => {
  expect(await actionsOf('--actor', 'Bob B.')).toEqual(['network.set', 'key.rotate']);
  expect(await actionsOf('--actor', 'Bob')).toEqual([]);
  expect(await actionsOf('--object', keyId)).toEqual(['key.rotate', 'key.create']);
  expect(await actionsOf('--object', shop.toUpperCase(), '--actor', 'Bob B.')).toEqual([
    'key.rotate',
  ]);
  expect(await actionsOf('--object', 'btc')).toEqual(['network.set']);
  expect(await actionsOf('--object', keyId, '--actor', 'alice')).toEqual(['key.create']);
  expect(await actionsOf('--since', '2020-02-02')).toHaveLength(7);
  expect(await actionsOf('--since', '2020-02-02T00:00:00.001Z')).toHaveLength(4);
  expect(await actionsOf('--since', '2100-01-01')).toEqual([]);
});

test('continues where a page ended, even within one instant', async () => {
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

test('of a merchant shows what belongs to it as well, and nothing of another one', async () => {
  const addresses = { btc: ADDRESSES.btc, eth: ADDRESSES.eth };
  const bought = await addMerchant(service, { addresses });
  const otherAddresses = { btc: OTHERS, 'eth-test': ADDRESSES['eth-test'] };
  const other = await addMerchant(service, { addresses: otherAddresses });
  for (const { merchant } of [other, bought]) {
    const owner = ['--merchant', merchant.id];
    const branch = await service.ask<{ id: string }>('branch', 'create', ...owner, '--name', 'B');
    await service.ask(
      ...['address', 'set', ...owner, '--branch', branch.id],
      ...[
        '--blockchain',
        'btc',
        '--address',
        merchant === bought.merchant ? ADDRESSES.btc : OTHERS,
      ],
    );
    await service.ask('domain', 'add', ...owner, '--domain', 'shop.example.com');
    const user = await service.ask<{ id: string }>(
      ...['user', 'create', ...owner, '--name', 'U'],
      ...['--email', 'u@example.com', '--role', 'admin'],
    );
    await service.ask('user', 'legacy-key', user.id);
    const webhook = await service.ask<{ id: string }>(
      ...['webhook', 'create', ...owner, '--url', 'https://shop.example.com/'],
    );
    await service.ask('webhook', 'disable', webhook.id);
  }
  await service.ask('key', 'revoke', bought.keyId);
  const { db, clock } = service;
  const found = await addOpenPayment(service, bought.merchant, 12_345n);
  for (const transactionHash of ['one', 'two']) {
    const at = { blockchainId: 'btc', address: ADDRESSES.btc, position: 0, blockHeight: 1 };
    // Far too much for the payment, so both go to the inbox.
    const transfer = { ...at, transactionHash, tokenAmount: 99_999n, finality: 'final' } as const;
    const now = new Date(clock());
    await observeTransfer(
      db,
      { ...transfer, blockHash: null, occurredAt: now, source: 'chain' },
      now,
    );
  }
  const [first, second] = await service.ask<{ id: string }[]>('deposit', 'list', '--unmatched');
  const amounts = ['--arrived', '0.00099999', '--due', '0.00012345'];
  await service.ask('deposit', 'assign', first?.id ?? '', found.id, ...amounts);
  await service.ask('deposit', 'dismiss', second?.id ?? '', '--note', 'Sent back by wire.');

  const entries = await service.ask<Entry[]>('audit', '--object', bought.merchant.id);
  expect(entries.map(({ action }) => action)).toEqual([
    ...['deposit.dismiss', 'deposit.assign', 'key.revoke', 'webhook.disable', 'webhook.create'],
    ...['user.legacy-key', 'user.create', 'domain.add', 'address.set', 'branch.create'],
    ...['key.create', 'address.set', 'address.set', 'merchant.create'],
  ]);
  expect(entries[0]?.detail).toMatchObject({ note: 'Sent back by wire.' });
  const others = await actionsOf('--object', other.merchant.id);
  expect(others).not.toContain('key.revoke');
  expect(others).toHaveLength(entries.length - 3);
});

test('a secret in a name is not stored', async () => {
  const name = `mpa_${'0123abcd'.repeat(8)} of the shop`;
  const merchant = ['merchant', 'create', '--name', name, '--email', 'hi@secret.example'];
  const { id } = await service.ask<{ id: string }>(...merchant);
  const [entry] = await service.ask<Entry[]>('audit', '--object', id);
  expect(entry?.detail).toMatchObject({ kind: 'standard', name: 'mpa_*** of the shop' });
});
