import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkMasterKeys } from '#accounts/keys/master-keys.ts';
import { createKeyring } from '#crypto/keyring.ts';
import type { MerchantWithKey } from '../helpers/accounts.ts';
import { cloneDatabase, type TestDatabase } from '../helpers/database.ts';
import { addPayment, stateOfPayment } from '../helpers/payments.ts';
import { freePort } from '../helpers/redis-server.ts';
import { parseExposition } from '../telemetry/exposition.ts';
import { openAccounts } from './accounts.ts';
import {
  call,
  patiently,
  type ServiceProcess,
  serviceEnvironment,
  startReplica,
  startWorker,
} from './service-process.ts';

/** Processes on machines with wrong clocks, and a database with a right one. */

const CREATE = '/external/v1/payments/prompt';
const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const SOON = { timeout: 40_000, interval: 50 };
const TOO_FAR = 'the clock is too far from that of the database: nothing is written';

/** A machine whose clock is ahead by `aheadMs` from the start, and by `thenMs` from a SIGUSR2 on. */
function machine(aheadMs: number, thenMs: number) {
  const preload = `
    const now = Date.now.bind(Date);
    let ahead = ${aheadMs};
    Date.now = () => now() + ahead;
    process.on('SIGUSR2', () => { ahead = ${thenMs}; });`;
  return {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(preload)}`,
    METRICS_HOST: '127.0.0.1',
  };
}

const masterKey = randomBytes(32);
const started: ServiceProcess[] = [];
let database: TestDatabase;
let shop: MerchantWithKey;
beforeAll(async () => {
  database = await cloneDatabase();
  ({ shop } = await openAccounts(database.db, masterKey));
  // As for a service that has run before.
  await checkMasterKeys(database.db, createKeyring([masterKey]), new Date());
});
afterAll(async () => {
  await Promise.all(started.map(it => it.stop('SIGKILL')));
  await database.drop();
});

const levelsOf = (process: ServiceProcess, message: string) =>
  process.logs.filter(({ msg }) => msg === message).map(({ level }) => level);

test('a worker ten minutes ahead writes nothing, and once it is seconds ahead, what is due by the database’s clock', async () => {
  const METRICS_PORT = String(await freePort());
  const monitored = `http://127.0.0.1:${METRICS_PORT}`;
  const ask = (path: string) => fetch(`${monitored}${path}`).catch(() => undefined);
  const now = Date.now();
  const ending = (inMs: number) =>
    addPayment(database.db, shop.merchant, {
      created_at: new Date(now - MINUTE_MS * 60),
      expires_at: new Date(now + inMs),
    });
  const [open, over] = [await ending(290 * SECOND_MS), await ending(-MINUTE_MS)];
  const worker = startWorker(
    serviceEnvironment(database.url, masterKey, {
      ...machine(10 * MINUTE_MS, 25 * SECOND_MS),
      METRICS_PORT,
    }),
  );
  started.push(worker);
  const failures = async (loop: string) => {
    const metrics = parseExposition((await (await ask('/metrics'))?.text()) ?? '\n');
    const samples = metrics.get('eps_worker_loop_failures_total')?.samples ?? [];
    return samples.find(({ labels }) => labels.loop === loop)?.value ?? 0;
  };
  await expect.poll(() => failures('expire-payments'), SOON).toBeGreaterThan(1);
  expect(await stateOfPayment(database.db, open.id)).toBe('pending/pending');
  expect(await stateOfPayment(database.db, over.id)).toBe('pending/pending');
  const ready = await ask('/readyz');
  expect([ready?.status, await ready?.json()]).toEqual([
    503,
    { status: 'unavailable', database: 'ok', clock: 'wrong' },
  ]);
  // Loops do not log each refusal.
  expect(levelsOf(worker, TOO_FAR)).toEqual(['error']);
  expect(levelsOf(worker, 'loop failed')).toEqual([]);

  void worker.stop('SIGUSR2');
  await expect.poll(() => stateOfPayment(database.db, over.id), SOON).toMatch(/^expired/);
  expect(await stateOfPayment(database.db, open.id)).toBe('pending/pending');
  const { rows } = await sql<{ ahead: number }>`
    select extract(epoch from max(created_at) - clock_timestamp())::float8 as ahead
    from events where payment_id = ${over.id}`.execute(database.db);
  expect(rows[0]?.ahead).toBeLessThan(2);
  await expect.poll(async () => (await ask('/readyz'))?.status, SOON).toBe(200);
  expect(await worker.stop()).toBe(0);
});

test('an API creates payments by the database’s clock, and none once its own is too far off', async () => {
  const env = serviceEnvironment(database.url, masterKey, machine(20 * SECOND_MS, -10 * MINUTE_MS));
  const api = await startReplica(env);
  started.push(api);
  expect(levelsOf(api, 'the clock differs from that of the database')).toEqual(['warn']);
  const before = Date.now();
  const created = await patiently(api, shop, { path: CREATE, body: { amount: 5000 } });
  expect(created.status).toBe(201);
  const { rows } = await sql<{ created: Date; lasts: number }>`
    select created_at as created, extract(epoch from expires_at - created_at)::float8 as lasts
    from payments where id = ${created.body.prompt.id}`.execute(database.db);
  const madeAt = rows[0]?.created.getTime() ?? 0;
  expect(madeAt).toBeGreaterThanOrEqual(before - SECOND_MS);
  expect(madeAt).toBeLessThanOrEqual(Date.now() + SECOND_MS);
  expect(new Date(created.body.prompt.expiresAt).getTime()).toBe(
    madeAt + (rows[0]?.lasts ?? 0) * SECOND_MS,
  );

  void api.stop('SIGUSR2');
  await expect.poll(() => levelsOf(api, TOO_FAR), SOON).toEqual(['error']);
  const refused = await call(api, shop, { path: CREATE, body: { amount: 5001 } });
  expect([refused.status, refused.body.error?.errorCode]).toEqual([503, 'E5002']);
  const listed = await call(api, shop, { path: '/external/v1/payments' });
  expect(listed.status).toBe(200);
  const amounts = listed.body.data.map(({ amount }: { amount: number }) => amount);
  expect(amounts).toContain(5000);
  expect(amounts).not.toContain(5001);
  // A result is cached for a second.
  const readiness = async () => {
    const response = await fetch(`${api.url}/readyz`);
    return [response.status, await response.json()];
  };
  await expect.poll(readiness, SOON).toMatchObject([503, { clock: 'wrong' }]);
});
