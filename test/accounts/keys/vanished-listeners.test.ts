import { sql } from 'kysely';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { revokeKey } from '#accounts/keys/manage-keys.ts';
import { addMerchant, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { cloneDatabase, type TestDatabase } from '../../helpers/database.ts';
import { holdableClock } from '../../helpers/holdable-clock.ts';
import { send } from '../../helpers/signed-request.ts';
import { SOON } from '../../helpers/soon.ts';
import { startTcpProxy, type TcpProxy } from '../../helpers/tcp-proxy.ts';

/** Two replicas that receive change notifications over a network that can be cut without them noticing. */

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
  // Cached from here on: both have received the notification of the new merchant.
  expect(await ask()).toEqual([200, 200]);
  // Their leases do not age while the sessions are being ended.
  const clock = holdableClock();
  const now = vi.spyOn(performance, 'now').mockImplementation(clock);
  onTestFinished(() => now.mockRestore());
  clock.hold();
  await vi.waitUntil(() => replicas.every(({ changes }) => changes.isCurrent()), SOON);
  proxy.freeze();
  const { rows } = await sql`
    select pg_terminate_backend(pid, 5000) from pg_stat_activity
    where application_name = 'test-changes' and datname = current_database()`.execute(database.db);
  expect(rows).toHaveLength(2);
  expect(replicas.map(({ changes }) => changes.isCurrent())).toEqual([true, true]);
  clock.release();
  await revokeKey(operatorOf(first), shop.keyId);
  expect(await ask()).toEqual(['E2005', 'E2005']);
});
