import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readConfig } from '#config/config.ts';
import { createEndpoint } from '#payments/webhooks/manage-endpoints.ts';
import { openStorage, type Storage } from '#runtime/storage.ts';
import { updateChain } from '#storage/repositories/chains/chains.ts';
import { insertNode } from '#storage/repositories/chains/nodes.ts';
import { createMonitor } from '#telemetry/monitor.ts';
import { createReadiness } from '#telemetry/readiness.ts';
import { addKey, addMerchant, type MerchantWithKey, operatorOf } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { nodeRow } from '../helpers/node-row.ts';
import { createPrompt, expectRefusal, requestPrompt } from '../helpers/prompts.ts';
import { send } from '../helpers/signed-request.ts';
import { watchNetworks } from '../helpers/watch-networks.ts';
import { parseExposition, sumOf } from '../telemetry/exposition.ts';
import { mpHere, type Operated, startOperated } from './mp.ts';

/** An application on a storage opened as by the processes, whose database is then marked as restored. */

const LIST = '/external/v1/payments';
const BODY = { amount: 5000 };
const silent = { error: () => undefined, warn: () => undefined, info: () => undefined };

let operated: Operated;
let storage: Storage;
let service: TestApp;
let shop: MerchantWithKey;
beforeAll(async () => {
  operated = await startOperated();
  const config = readConfig({ ...operated.env, NODE_ENV: 'test' });
  storage = await openStorage(config, { holder: 'service', name: 'test', logger: silent as never });
  await storage.databaseClock.start();
  await storage.restores.look(storage.db);
  service = await startTestApp({
    database: { db: storage.db, url: operated.databaseUrl },
    keyring: operated.keyring,
    clock: operated.clock,
    keptSince: () => storage.restores.confirmed()?.confirmedAt.getTime() ?? 0,
  });
  shop = await addMerchant(operated);
  await createEndpoint(operatorOf(operated), operated.keyring, {
    merchantId: shop.merchant.id,
    url: 'https://shop.example/hooks',
    allowPrivateAddresses: true,
  });
  const { db, clock } = operated;
  const now = new Date(clock());
  await insertNode(db, nodeRow(now));
  await watchNetworks(db, ['eth', 'eth-usdt', 'btc']);
  await updateChain(db, 'eth', {
    head_height: 1_010,
    cursor_height: 1_000,
    cursor_hash: '0xa',
    swept_height: 950,
    polled_at: new Date(clock() - 3_590_000),
  });
});
afterAll(async () => {
  await service?.close();
  await storage?.close();
  await operated?.close();
});

const look = () => storage.restores.look(storage.db);
const to = () => new Date(operated.clock() - 3_600_000).toISOString();

test('a database that was never restored has no restore to report or confirm', async () => {
  expect(await operated.ask('restore', 'show')).toEqual({ id: null, state: 'none' });
  expect(await operated.refused('restore', 'confirm')).toBe(
    'No restore waits for a confirmation. If the database was restored all the same: mp restore declare --to TIME.',
  );
  const tomorrow = new Date(operated.clock() + 86_400_000).toISOString();
  expect(await operated.refused('restore', 'declare', '--to', tomorrow)).toBe(
    `${tomorrow} is yet to come.`,
  );
});

test('once it is marked as restored, everything that writes is refused, and reads work', async () => {
  await createPrompt(service, shop, BODY);
  const restoredTo = to();
  const declared = await operated.ask('restore', 'declare', '--to', restoredTo);
  expect(declared).toMatchObject({ state: 'unconfirmed', restoredTo, lostUntil: null });
  expect(await operated.ask('restore', 'show')).toEqual(declared);
  expect(await operated.refused('restore', 'declare', '--to', restoredTo)).toBe(
    'A restore waits for its confirmation: mp restore confirm.',
  );
  await look();
  const refused = await requestPrompt(service, shop, BODY);
  expectRefusal(refused, 'E5002');
  expect(refused.json().error.message).toContain('nothing was executed');
  expect((await send(service, shop, { path: LIST })).json().data).toHaveLength(1);
  expect(
    await operated.refused('merchant', 'create', '--name', 'Late', '--email', 'late@example.com'),
  ).toBe(
    `Nothing was changed, since writes are refused: the database was restored to ${restoredTo}: look at "mp restore show", then run "mp restore confirm".`,
  );
  expect(await operated.ask('merchant', 'list')).toHaveLength(1);
  const { keyId } = await addKey(operated, { merchantId: shop.merchant.id });
  expect(await operated.ask('key', 'revoke', keyId)).toMatchObject({ status: 'revoked' });
});

test('readiness and a metric report it', async () => {
  const { db, restores } = storage;
  const observe = async () => {
    const readiness = createReadiness({ db, restores });
    const monitor = createMonitor({ readiness, pools: {}, restores });
    try {
      const metrics = parseExposition(await monitor.registry.metrics());
      return [await readiness(), sumOf(metrics, 'eps_database_restore_unconfirmed')];
    } finally {
      await monitor.close();
    }
  };
  const told = { status: 'ok', database: 'ok', restore: 'unconfirmed' };
  expect(await observe()).toEqual([{ ready: true, body: told }, 1]);
});

test('once confirmed, writes work again: chains are rescanned, owed webhooks withheld, old requests refused', async () => {
  const signedBefore = operated.clock() - 60_000;
  const confirmed = await operated.ask('restore', 'confirm');
  // An hour of Ethereum, and its ring.
  const range = { from: 951, to: 1_010 + 300 + 64 };
  expect(confirmed).toMatchObject({
    state: 'confirmed',
    webhooksWithheld: 1,
    rescans: [
      { network: 'eth', ...range },
      { network: 'eth-usdt', ...range },
    ],
  });
  const { rows } = await sql`
    select blockchain_id, from_height, to_height, next_height, asked_by, done_at from rescans order by id`.execute(
    operated.db,
  );
  const row = { from_height: 951, next_height: 951, to_height: 1_374, asked_by: 'alice' };
  expect(rows).toEqual([
    { blockchain_id: 'eth', ...row, done_at: null },
    { blockchain_id: 'eth-usdt', ...row, done_at: null },
  ]);
  const deliveries = operated.db.selectFrom('webhook_deliveries').select('status');
  expect(await deliveries.execute()).toEqual([{ status: 'withheld' }]);
  const [entry] = await operated.ask<object[]>('audit', '--object', String(confirmed.id));
  expect(entry).toMatchObject({
    actor: 'alice',
    action: 'restore.confirm',
    detail: { withheld: 1, networks: ['eth', 'eth-usdt'] },
  });

  expectRefusal(await requestPrompt(service, shop, BODY), 'E5002');
  await look();
  const late = await send(service, shop, { path: `${LIST}/prompt`, body: BODY, now: signedBefore });
  expectRefusal(late, 'E5002');
  expect(late.json().error.message).toContain('Sign it anew');
  // Timestamps are in whole seconds.
  operated.clock.now += 1_000;
  await createPrompt(service, shop, BODY);
  expect(await deliveries.execute()).toHaveLength(2);
  expect(await operated.ask('restore', 'show')).toMatchObject({
    state: 'confirmed',
    noticedBy: 'alice',
  });
  await operated.refused('restore', 'confirm');
});

test('wrong usage is one plain line', async () => {
  for (const [args, message] of [
    [['declare'], "error: required option '--to <time>' not specified"],
    [
      ['declare', '--to', 'yesterday'],
      "error: option '--to <time>' argument 'yesterday' is invalid.",
    ],
    [
      ['confirm', 'now'],
      "error: too many arguments for 'confirm'. Expected 0 arguments but got 1: now.",
    ],
  ] as const) {
    const { status, err } = await mpHere(['restore', ...args], operated.env);
    expect([status, err.split('\n')[0]]).toEqual([2, expect.stringContaining(message)]);
  }
});
