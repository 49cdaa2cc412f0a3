import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  removeDeadDeliveryJobs,
  restoreDeliveryJobs,
} from '../../src/repositories/webhook-jobs.ts';
import { cloneDatabase, type TestDatabase } from '../helpers/database.ts';
import { openShop, type Shop } from './shop.ts';

const MINUTE_MS = 60_000;

let database: TestDatabase;
let shop: Shop;
beforeAll(async () => {
  database = await cloneDatabase();
  shop = await openShop(database);
});
afterAll(() => database.drop());

test('only a delivery that nobody has and that is late gets another job', async () => {
  await shop.addEndpoint('https://shop.example.com');
  await shop.tell();
  const restore = () => {
    const now = new Date(shop.clock());
    const before = new Date(now.getTime() - MINUTE_MS);
    return restoreDeliveryJobs(shop.db, { now, before, limit: 100 });
  };
  const jobId = () =>
    sql<{ id: string }>`select id from graphile_worker.jobs where key = ${id}`.execute(shop.db);
  const [{ id = '' } = {}] = await shop.deliveries();
  shop.clock.now += 2 * MINUTE_MS;
  // Its job waits.
  expect(await restore()).toBe(0);
  // Its worker is alive.
  await sql`update graphile_worker._private_jobs
    set locked_at = now(), locked_by = 'pool-x', attempts = 1 where key = ${id}`.execute(shop.db);
  const lease = (at: number) =>
    sql`update webhook_deliveries set claimed_until = ${new Date(at)} where id = ${id}`.execute(
      shop.db,
    );
  await lease(shop.clock() + 1);
  expect(await restore()).toBe(0);
  // Its worker is dead.
  await lease(shop.clock());
  const before = await jobId();
  expect(await restore()).toBe(1);
  expect((await jobId()).rows).not.toEqual(before.rows);
  expect(await restore()).toBe(0);
  // Its job is lost.
  await sql`delete from graphile_worker._private_jobs where key = ${id}`.execute(shop.db);
  expect(await restore()).toBe(1);
  // What the dead worker left is removed when the queue lets go of it.
  const dead = () =>
    sql`select from graphile_worker.jobs where locked_by = 'pool-x'`.execute(shop.db);
  await removeDeadDeliveryJobs(shop.db, 100);
  expect((await dead()).rows).toHaveLength(1);
  await sql`update graphile_worker._private_jobs set locked_at = now() - interval '5 hours'
    where locked_by = 'pool-x'`.execute(shop.db);
  await removeDeadDeliveryJobs(shop.db, 100);
  expect((await dead()).rows).toEqual([]);
  expect((await jobId()).rows).toHaveLength(1);
});
