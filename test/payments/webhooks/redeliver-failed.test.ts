import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { disableEndpoint } from '#payments/webhooks/change-endpoint.ts';
import { redeliver, redeliverFailed } from '#payments/webhooks/redeliver.ts';
import { cloneDatabase, type TestDatabase } from '../../helpers/database.ts';
import { idAt } from '../../helpers/id-at.ts';
import { openShop, type Shop } from './shop.ts';

const URL = 'http://127.0.0.1:1/hooks';
const DAY_MS = 24 * 60 * 60_000;

let database: TestDatabase;
beforeAll(async () => {
  database = await cloneDatabase();
});
afterAll(() => database.drop());

/** Adds deliveries to an endpoint that failed, one each minute from `since` on. */
async function addFailed({ db, payment }: Shop, endpointId: string, since: Date, count: number) {
  await sql`
    with event as (
      insert into events
      select ${idAt(sql`at`)}, ${payment.merchant_id}, ${payment.id}, 'payment_prompt.created', at, '{}'
      from generate_series(0, ${count - 1}) as n,
           lateral (select ${since}::timestamptz + n * interval '1 minute' as at) as time returning id, created_at)
    insert into webhook_deliveries (id, event_id, endpoint_id, status, attempts, created_at, finished_at)
    select gen_random_uuid(), id, ${endpointId}, 'failed', 10, created_at, created_at from event`.execute(
    db,
  );
}

const repeated = async (shop: Shop) =>
  (await shop.deliveries()).filter(({ redelivery_of: of }) => of !== null);

test('deliveries that failed since a time are redelivered, each event once, in one audited change', async () => {
  const shop = await openShop(database);
  const { endpoint } = await shop.addEndpoint(URL);
  const { endpoint: other } = await shop.addEndpoint(`${URL}/other`);
  const since = new Date(shop.clock.now - 2 * DAY_MS);
  await addFailed(shop, endpoint.id, new Date(since.getTime() - DAY_MS), 1);
  await addFailed(shop, endpoint.id, since, 3);
  await addFailed(shop, other.id, since, 1);
  await shop.tell();
  const before = await shop.deliveries();

  expect(await redeliverFailed(shop.operator, endpoint.id, since)).toEqual({
    deliveries: 3,
    hasMore: false,
  });
  const wanted = before.filter(
    ({ endpoint_id: id, created_at: at, status }) =>
      id === endpoint.id && at >= since && status === 'failed',
  );
  const made = await repeated(shop);
  expect(made.map(({ redelivery_of: of }) => of).sort()).toEqual(wanted.map(({ id }) => id).sort());
  for (const delivery of made) {
    expect(delivery).toMatchObject({ status: 'pending', attempts: 0, endpoint_id: endpoint.id });
  }
  const entries = await shop.db
    .selectFrom('audit_log')
    .select('detail')
    .where('action', '=', 'webhook.redeliver-failed')
    .where('object_id', '=', endpoint.id)
    .execute();
  expect(entries).toEqual([{ detail: { since: since.toISOString(), deliveries: 3 } }]);
});

test('an event that was redelivered is left out until the redelivery has failed as well', async () => {
  const shop = await openShop(database);
  const { endpoint } = await shop.addEndpoint(URL);
  const since = new Date(shop.clock.now - DAY_MS);
  await addFailed(shop, endpoint.id, since, 1);
  const [first] = await shop.deliveries();
  // Redelivered twice by hand: the newer one counts.
  const older = await redeliver(shop.operator, first?.id ?? '');
  shop.clock.now += 1;
  const newer = await redeliver(shop.operator, first?.id ?? '');
  const fail = (id: string) =>
    shop.db
      .updateTable('webhook_deliveries')
      .set({ status: 'failed', next_attempt_at: null, finished_at: new Date(shop.clock.now) })
      .where('id', '=', id)
      .execute();
  const again = () => redeliverFailed(shop.operator, endpoint.id, since);
  await fail(older.id);
  shop.clock.now += 1;
  expect(await again()).toMatchObject({ deliveries: 0 });
  await fail(newer.id);
  expect(await again()).toMatchObject({ deliveries: 1 });
  expect((await repeated(shop)).map(({ redelivery_of: of }) => of)).toContain(newer.id);
  expect(await again()).toMatchObject({ deliveries: 0 });
});

test('what was cancelled while the endpoint was disabled is redelivered, too, in its order', async () => {
  const shop = await openShop(database);
  const { endpoint } = await shop.addEndpoint(URL);
  const since = new Date(shop.clock.now - DAY_MS);
  await shop.tell();
  await disableEndpoint(shop.operator, endpoint.id, 'disabled-by Ada');
  // As an older version of the service did, which left everything cancelled.
  await shop.db
    .updateTable('webhook_endpoints')
    .set({ disabled_at: null, disabled_reason: null })
    .where('id', '=', endpoint.id)
    .execute();
  await addFailed(shop, endpoint.id, since, 1);
  const undelivered = (await shop.deliveries()).map(({ id }) => id);
  // Redelivering cancels as well, here by a clock that is behind.
  shop.clock.now += 1;
  await shop.tell();
  const waiting = (await shop.deliveries()).find(({ status }) => status === 'pending');
  const behind = { ...shop.operator, clock: () => shop.clock.now - 1_000 };
  const again = await redeliver(behind, waiting?.id ?? '');
  expect(await redeliverFailed(shop.operator, endpoint.id, since)).toEqual({
    deliveries: 2,
    hasMore: false,
  });
  const made = (await repeated(shop)).map(({ redelivery_of: of }) => of);
  expect(made.sort()).toEqual([...undelivered, again.redelivery_of].sort());
  expect(await redeliverFailed(shop.operator, endpoint.id, since)).toMatchObject({ deliveries: 0 });
});

test('at most 1,000 are redelivered at once, and two callers share them', async () => {
  const shop = await openShop(database);
  const { endpoint } = await shop.addEndpoint(URL);
  const since = new Date(shop.clock.now - 2 * DAY_MS);
  await addFailed(shop, endpoint.id, since, 1_005);
  const results = await Promise.all(
    [1, 2].map(() => redeliverFailed(shop.operator, endpoint.id, since)),
  );
  expect(results).toEqual(
    expect.arrayContaining([
      { deliveries: 1_000, hasMore: true },
      { deliveries: 5, hasMore: false },
    ]),
  );
  const made = await repeated(shop);
  expect(new Set(made.map(({ event_id: id }) => id)).size).toBe(1_005);
  expect(made).toHaveLength(1_005);
});

test('nothing is redelivered to a disabled endpoint', async () => {
  const shop = await openShop(database);
  const { endpoint } = await shop.addEndpoint(URL);
  await addFailed(shop, endpoint.id, new Date(shop.clock.now - DAY_MS), 1);
  await disableEndpoint(shop.operator, endpoint.id, 'disabled-by Ada');
  const again = redeliverFailed(shop.operator, endpoint.id, new Date(0));
  await expect(again).rejects.toThrow('is disabled: Disabled by Ada.');
  expect(await repeated(shop)).toEqual([]);
});
