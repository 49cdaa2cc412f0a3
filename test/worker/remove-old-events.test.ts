import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { deleteOldEvents } from '../../src/repositories/retention.ts';
import { removeOldEventsLoop } from '../../src/worker/remove-old-events.ts';
import { cloneDatabase, type TestDatabase } from '../helpers/database.ts';
import { openShop, type Shop } from '../webhooks/shop.ts';

const DAY_MS = 24 * 60 * 60_000;
const DAYS = 90;
/** The database decides by its own clock what it keeps. */
const NOW = Math.floor(Date.now() / 1000) * 1000;

let database: TestDatabase;
let shop: Shop;
let endpointId: string;

beforeAll(async () => {
  database = await cloneDatabase();
  shop = await openShop(database, NOW);
  endpointId = (await shop.addEndpoint('http://127.0.0.1:1/')).endpoint.id;
});
beforeEach(() => {
  shop.clock.now = NOW;
});
afterAll(() => database.drop());

const daysAgo = (days: number) => new Date(NOW - days * DAY_MS);
const run = (signal = new AbortController().signal) =>
  removeOldEventsLoop(shop.db, shop.clock, DAYS).run(signal, () => undefined);

/** An event of some days ago. */
async function addEvent(created_at: Date): Promise<string> {
  const id = uuidv7({ msecs: created_at.getTime() });
  await shop.db
    .insertInto('events')
    .values({
      id,
      merchant_id: shop.merchant.id,
      payment_id: shop.payment.id,
      type: 'payment_prompt.created',
      created_at,
      data: '{}',
    })
    .execute();
  return id;
}

/** A delivery of an event, with an attempt; it waits unless it has ended. */
async function addDelivery(
  eventId: string,
  { created, finished, of = null }: { created: Date; finished?: Date; of?: string | null },
): Promise<string> {
  const id = uuidv7({ msecs: created.getTime() });
  await shop.db
    .insertInto('webhook_deliveries')
    .values({
      id,
      event_id: eventId,
      endpoint_id: endpointId,
      redelivery_of: of,
      status: finished === undefined ? 'pending' : 'succeeded',
      next_attempt_at: finished === undefined ? created : null,
      finished_at: finished ?? null,
      attempts: 1,
      created_at: created,
    })
    .execute();
  const attempt = { number: 1, at: created, duration_ms: 1, status_code: 200 };
  await shop.db
    .insertInto('webhook_attempts')
    .values({ id: uuidv7(), delivery_id: id, ...attempt })
    .execute();
  return id;
}

async function left() {
  const [events, deliveries, attempts] = await Promise.all([
    shop.db.selectFrom('events').select('id').orderBy('id').execute(),
    shop.db.selectFrom('webhook_deliveries').select('id').orderBy('id').execute(),
    shop.db.selectFrom('webhook_attempts').select('delivery_id as id').execute(),
  ]);
  const ids = (rows: { id: string }[]) => rows.map(({ id }) => id).toSorted();
  return { events: ids(events), deliveries: ids(deliveries), attempts: ids(attempts) };
}

test('what is older goes with its deliveries and attempts, and payments stay', async () => {
  const old = daysAgo(DAYS + 1);
  const alone = await addEvent(old);
  const sent = await addEvent(old);
  const first = await addDelivery(sent, { created: old, finished: old });
  await addDelivery(sent, { created: old, finished: old, of: first });
  const young = await addEvent(daysAgo(DAYS - 1));
  const delivered = await addDelivery(young, { created: daysAgo(1), finished: daysAgo(1) });
  await run();
  expect(await left()).toEqual({
    events: [young],
    deliveries: [delivered],
    attempts: [delivered],
  });
  expect(alone < young).toBe(true);
  const payments = await shop.db.selectFrom('payments').select('id').execute();
  expect(payments).toEqual([{ id: shop.payment.id }]);
});

test('an event stays whose delivery waits, or was sent again since', async () => {
  const old = daysAgo(DAYS + 1);
  const waiting = await addEvent(old);
  await addDelivery(waiting, { created: old });
  const again = await addEvent(old);
  const first = await addDelivery(again, { created: old, finished: old });
  await addDelivery(again, { created: daysAgo(5), finished: daysAgo(5), of: first });
  const before = await left();
  await run();
  expect(await left()).toEqual(before);
  await sql`
    update webhook_deliveries
    set status = 'failed', next_attempt_at = null, finished_at = ${old}
    where status = 'pending'`.execute(shop.db);
  await run();
  const after = (await left()).events;
  expect(after).not.toContain(waiting);
  expect(after).toContain(again);
});

test('any number goes, a batch at a time, and stops when its signal is aborted', async () => {
  const old = daysAgo(DAYS + 2);
  await sql`
    insert into events (id, merchant_id, payment_id, type, created_at, data)
    select (left(${uuidv7({ msecs: old.getTime() })}, 15) || right(gen_random_uuid()::text, 21))::uuid,
           ${shop.merchant.id}, ${shop.payment.id}, 'payment_prompt.created', ${old}, '{}'
    from generate_series(1, 1200)`.execute(shop.db);
  const count = async () => {
    const rows = await shop.db.selectFrom('events').select('id').where('created_at', '=', old);
    return (await rows.execute()).length;
  };
  const controller = new AbortController();
  await removeOldEventsLoop(shop.db, shop.clock, DAYS).run(controller.signal, () =>
    controller.abort(),
  );
  expect(await count()).toBe(700);
  await Promise.all([run(), run()]);
  expect(await count()).toBe(0);
});

test('no role can remove what is younger than six days', async () => {
  const young = await addEvent(daysAgo(5));
  await addDelivery(young, { created: daysAgo(5), finished: daysAgo(5) });
  await expect(deleteOldEvents(shop.db, daysAgo(1), 100)).rejects.toThrow('is refused');
  for (const statement of [
    'delete from webhook_attempts',
    'update webhook_attempts set number = 2',
  ]) {
    await expect(sql.raw(statement).execute(shop.db)).rejects.toThrow('is refused');
  }
});
