import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { COMPILE_CACHE } from '../../helpers/compile-cache.ts';
import { cloneDatabase, type TestDatabase } from '../../helpers/database.ts';
import { type Receiver, stall, startReceiver, status } from './receiver.ts';
import { openShop, type Shop } from './shop.ts';

/** Longest that a process may take to start and send, in milliseconds. */
const START_MS = 40_000;

let database: TestDatabase;
let receiver: Receiver;
const workers: ChildProcess[] = [];
beforeAll(async () => {
  [database, receiver] = await Promise.all([cloneDatabase(), startReceiver(stall)]);
});
afterAll(async () => {
  for (const worker of workers) worker.kill('SIGKILL');
  await receiver.close();
  await database.drop();
});

/** The worker as in production, as a process of its own. */
function spawnWorker({ databaseUrl, masterKey }: Shop): ChildProcess {
  const worker = spawn(process.execPath, [resolve(import.meta.dirname, '../../../src/worker.ts')], {
    env: {
      PATH: process.env.PATH,
      ...COMPILE_CACHE,
      NODE_ENV: 'test',
      LOG_LEVEL: 'error',
      DATABASE_URL: databaseUrl,
      MASTER_KEY: masterKey.toString('base64'),
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  workers.push(worker);
  return worker;
}

test('what a killed worker was sending is sent by the next one', async () => {
  const shop = await openShop(database, Date.now());
  await shop.addEndpoint(receiver.url);
  await shop.tell();
  const first = spawnWorker(shop);
  await receiver.received(1, START_MS);
  first.kill('SIGKILL');
  await once(first, 'exit');
  const [left] = await shop.deliveries();
  expect(left).toMatchObject({ status: 'pending', attempts: 0, claimed_until: expect.any(Date) });

  expect(left?.claimed_until?.getTime()).toBeLessThan(Date.now() + 30_000);

  // The claim expires.
  const past = new Date(Date.now() - 1);
  await shop.db
    .updateTable('webhook_deliveries')
    .set({ claimed_until: past })
    .where('id', '=', left?.id ?? '')
    .execute();
  receiver.answer = status(200);
  const second = spawnWorker(shop);
  await receiver.received(2, START_MS);
  // When it is told to stop, it finishes its work first.
  second.kill('SIGTERM');
  expect(await once(second, 'exit')).toEqual([0, null]);
  expect(await shop.deliveries()).toMatchObject([{ status: 'succeeded', attempts: 1 }]);
  const [one, two] = receiver.requests;
  expect(two?.headers['webhook-id']).toBe(one?.headers['webhook-id']);
  expect(two?.body).toBe(one?.body);
}, 120_000);
