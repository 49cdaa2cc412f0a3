import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { revokeKey } from '../../src/keys/manage-keys.ts';
import { addMerchant, operatorOf } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { cloneDatabase, type TestDatabase } from '../helpers/database.ts';
import { send } from '../helpers/signed-request.ts';
import { startTcpProxy, type TcpProxy } from '../helpers/tcp-proxy.ts';

/** Two replicas that hear of changes over a network that can be cut without their noticing. */

const LIST = { path: '/external/v1/payments' };

let database: TestDatabase;
let proxy: TcpProxy;
let replicas: readonly [TestApp, TestApp];

beforeAll(async () => {
  database = await cloneDatabase();
  const target = new URL(database.url);
  proxy = await startTcpProxy(target.hostname, Number(target.port));
  target.host = `127.0.0.1:${proxy.port}`;
  const remembers = { feedUrl: target.href };
  const first = await startTestApp({ database, remembers });
  replicas = [first, await startTestApp({ beside: first, remembers })];
});
afterAll(async () => {
  await proxy.cut();
  await Promise.all(replicas.map(replica => replica.close()));
  await database.drop();
});

test('a key is refused once it is revoked, though their sessions ended unnoticed', async () => {
  const [first] = replicas;
  const shop = await addMerchant(first);
  const ask = async () => {
    const responses = await Promise.all(replicas.map(replica => send(replica, shop, LIST)));
    return responses.map(response => response.json().error?.errorCode ?? response.statusCode);
  };
  // Remembered from here on: both have heard that the merchant was added.
  expect(await ask()).toEqual([200, 200]);
  proxy.freeze();
  const { rows } = await sql`
    select pg_terminate_backend(pid, 5000) from pg_stat_activity
    where application_name = 'test-changes' and datname = current_database()`.execute(database.db);
  expect(rows).toHaveLength(2);
  expect(replicas.map(({ changes }) => changes.isCurrent())).toEqual([true, true]);
  await revokeKey(operatorOf(first), shop.keyId);
  expect(await ask()).toEqual(['E2005', 'E2005']);
});
