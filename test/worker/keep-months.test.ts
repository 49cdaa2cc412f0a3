import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import {
  dropPartitions,
  findPartitionsEnd,
  listPartitions,
  makePartitions,
} from '#storage/repositories/partitions.ts';
import { ALERT_RULES } from '#telemetry/alert-rules.ts';
import { keepMonthsLoop } from '#worker/keep-months.ts';
import { cloneDatabase, type TestDatabase } from '../helpers/database.ts';
import { idAt } from '../helpers/id-at.ts';
import { makeMonths, monthFrom } from '../helpers/months.ts';
import { openShop, type Shop } from '../payments/webhooks/shop.ts';

const DAY_MS = 24 * 60 * 60_000;
/** RETENTION_DAYS of the tests. */
const DAYS = 90;
/** Months before this one that have partitions; the oldest ended more than DAYS ago. */
const MONTHS_BACK = 7;
/** The database decides by its own clock what may be dropped. */
const NOW = new Date();
const TABLES = ['events', 'webhook_deliveries', 'webhook_attempts', 'request_log'];

/** The first instant of the month that is `distance` months from this one. */
const month = (distance: number) => monthFrom(NOW, distance);
const named = (distance: number) => month(distance).toISOString().slice(0, 7);
/** Name of a table's partition of a month. */
const part = (table: string, distance: number) => `${table}_${named(distance).replace('-', '')}`;

let database: TestDatabase;
let shop: Shop;
let endpointId: string;
let told: Record<string, unknown>[];

beforeAll(async () => {
  database = await cloneDatabase();
  shop = await openShop(database, NOW.getTime());
  endpointId = (await shop.addEndpoint('http://127.0.0.1:1/')).endpoint.id;
});
beforeEach(async () => {
  // In the middle of the previous month, so that the retention period ends in the same month on every day of a year,
  // and the clock is not ahead of the database's.
  shop.clock.now = month(-1).getTime() + 10 * DAY_MS;
  told = [];
  // As a database that has had months for half a year.
  await makeMonths(shop.db, month(-MONTHS_BACK), month(3));
});
afterAll(() => database.drop());

const loop = () =>
  keepMonthsLoop(shop.db, shop.clock, DAYS, {
    info: (facts: unknown) => void told.push(facts as Record<string, unknown>),
  });
const run = () => loop().run(new AbortController().signal, () => undefined);

/** Adds an event to a month, with a delivery and an attempt at it, and a request. */
async function addRows(distance: number, status: 'succeeded' | 'pending' = 'succeeded') {
  const at = sql`${month(distance)}::timestamptz + interval '1 day'`;
  await sql`
    with event as (
      insert into events select ${idAt(at)}, ${shop.merchant.id}, ${shop.payment.id},
        'payment_prompt.created', ${at}, '{}' returning id),
    delivery as (
      insert into webhook_deliveries
        (id, event_id, endpoint_id, status, next_attempt_at, finished_at, created_at)
      select ${idAt(at)}, id, ${endpointId}, ${status}, ${status === 'pending' ? at : null},
             ${status === 'pending' ? null : at}, ${at} from event returning id),
    request as (
      insert into request_log select ${idAt(at)}, ${at}, ${shop.merchant.id}, 1, 1, 400::smallint, true,
        false, null, 'mpk_1', 'E1001', null, 'GET', '/', '')
    insert into webhook_attempts select ${idAt(at)}, id, 1, ${at}, 1, 200 from delivery`.execute(
    shop.db,
  );
}

/** The months of all rows, by table. */
async function rows(): Promise<Record<string, string[]>> {
  const { rows: found } = await sql<{ table: string; months: string[] }>`
    ${sql.join(
      TABLES.map(
        table => sql`
          select ${table} as table,
                 coalesce(array_agg(to_char(${sql.ref(table.endsWith('s') && !table.endsWith('attempts') ? 'created_at' : 'at')}, 'YYYY-MM') order by 1), '{}') as months
          from ${sql.table(table)}`,
      ),
      sql` union all `,
    )}`.execute(shop.db);
  return Object.fromEntries(found.map(({ table, months }) => [table, months.toSorted()]));
}

async function monthsOf(table: string): Promise<(string | null)[]> {
  const all = await listPartitions(shop.db);
  return all.filter(each => each.table === table).map(each => each.month);
}

const distances = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => named(from + index));

/** Drops the months of events that ended before a time. */
const drop = (before: Date) => dropPartitions(shop.db, 'events', { now: before, days: 0 });

test('months beyond the retention period are dropped with all their rows, and payments stay', async () => {
  for (const distance of [-6, -5, -3, -1, 0]) await addRows(distance);
  await run();
  // The month five before the clock's ended four before it; the one before the last three may be kept.
  expect(await monthsOf('events')).toEqual(distances(-4, 3));
  expect(await monthsOf('request_log')).toEqual(distances(-2, 3));
  const kept = [-3, -1, 0].map(named);
  expect(await rows()).toEqual({
    events: kept,
    webhook_deliveries: kept,
    webhook_attempts: kept,
    request_log: [-1, 0].map(named),
  });
  expect(await shop.db.selectFrom('payments').select('id').execute()).toEqual([
    { id: shop.payment.id },
  ]);
  const dropped = told.flatMap(({ partitions }) => partitions);
  expect(dropped).toContain(part('events', -6));
  expect(new Set(dropped).size).toBe(3 * 3 + 5);
});

test('a month stays while one of its deliveries is pending, and the months around it are dropped', async () => {
  for (const distance of [-7, -6, -5])
    await addRows(distance, distance === -6 ? 'pending' : 'succeeded');
  await run();
  for (const table of TABLES.slice(0, 3)) {
    expect(await monthsOf(table)).toEqual([named(-6), ...distances(-4, 3)]);
  }
  told.length = 0;
  await run();
  expect(told).toEqual([]);
  await sql`
    update webhook_deliveries set status = 'failed', next_attempt_at = null, finished_at = now()`.execute(
    shop.db,
  );
  await run();
  expect(await monthsOf('events')).toEqual(distances(-4, 3));
});

test('rows from before the first month are dropped once that starts early enough', async () => {
  for (const table of ['webhook_attempts', 'webhook_deliveries', 'events']) {
    for (const distance of [-7, -6]) {
      await sql`drop table ${sql.table(part(table, distance))}`.execute(shop.db);
    }
  }
  for (const [table, columns] of [
    ['events', 'add primary key (id)'],
    [
      'webhook_deliveries',
      'add primary key (id), add foreign key (event_id) references events_before',
    ],
    [
      'webhook_attempts',
      'add primary key (id), add foreign key (delivery_id) references webhook_deliveries_before',
    ],
  ] as const) {
    const before = sql.table(`${table}_before`);
    await sql`create table ${before} (like ${sql.table(table)} including constraints)`.execute(
      shop.db,
    );
    await sql`alter table ${before} ${sql.raw(columns)}`.execute(shop.db);
    await sql`
      do $$ begin execute format('alter table %I attach partition %I for values from (minvalue) to (%L)',
        ${sql.lit(table)}, ${sql.lit(`${table}_before`)}, first_id_of(${sql.lit(month(-5).toISOString())})); end $$`.execute(
      shop.db,
    );
  }
  await addRows(-6);
  expect(await monthsOf('events')).toEqual([null, ...distances(-5, 3)]);
  await run();
  expect(await monthsOf('events')).toEqual(distances(-4, 3));
  expect((await rows()).webhook_attempts).toEqual([]);
});

test('a clock that is ahead drops no retained month, and creates at most a year', async () => {
  const far = month(100);
  shop.clock.now = far.getTime();
  await run();
  const kept = Array.from({ length: MONTHS_BACK + 13 }, (_, index) => index - MONTHS_BACK)
    .filter(distance => month(distance + 1).getTime() > NOW.getTime() - DAYS * DAY_MS)
    .map(named);
  expect(await monthsOf('events')).toEqual(kept);
  await dropPartitions(shop.db, 'events', { now: far, days: 0 });
  // Months end at their last instant, so the previous one may have to stay for six days.
  const left = await monthsOf('events');
  expect(left).toEqual(expect.arrayContaining(distances(0, 12)));
  expect(left.length).toBeLessThanOrEqual(14);
  await makePartitions(shop.db, far);
  expect((await monthsOf('events')).at(-1)).toBe(named(12));
  shop.clock.now = month(-24).getTime();
  await run();
  expect((await monthsOf('events')).at(-1)).toBe(named(12));
});

test('missing months are created again, by one of several processes', async () => {
  const missing = [part('webhook_deliveries', 1), part('events', 1), part('request_log', 2)];
  expect(await findPartitionsEnd(shop.db, NOW)).toEqual(month(4));
  for (const name of missing) await sql`drop table ${sql.table(name)}`.execute(shop.db);
  expect(await findPartitionsEnd(shop.db, NOW)).toEqual(month(1));
  const made = await Promise.all([1, 2, 3].map(() => makePartitions(shop.db, month(3))));
  expect(made.flat().toSorted()).toEqual(missing.toSorted());
  expect(await findPartitionsEnd(shop.db, NOW)).toEqual(month(4));
});

test('a table in use is deferred, and nothing waits behind it for long', async () => {
  await addRows(-6);
  await shop.db.transaction().execute(async tx => {
    await sql`select from events limit 1`.execute(tx);
    await run();
    expect(told).toContainEqual({ err: expect.objectContaining({ code: '55P03' }) });
  });
  expect(await monthsOf('events')).toContain(named(-6));
  await run();
  expect(await monthsOf('events')).not.toContain(named(-6));
});

test('a month that a vacuum of payments blocks is created later', async () => {
  for (const table of ['webhook_attempts', 'webhook_deliveries', 'events']) {
    await sql`drop table ${sql.table(part(table, 2))}`.execute(shop.db);
  }
  await shop.db.transaction().execute(async tx => {
    // As VACUUM locks it.
    await sql`lock table payments in share update exclusive mode`.execute(tx);
    await run();
    expect(told).toContainEqual({ err: expect.objectContaining({ code: '55P03' }) });
  });
  expect(await monthsOf('events')).not.toContain(named(2));
  await run();
  expect(await monthsOf('events')).toContain(named(2));
});

test('a delivery that is redelivered while its month is dropped keeps the month', async () => {
  await addRows(-6);
  const { dropping } = await shop.db.transaction().execute(async tx => {
    const { numAffectedRows } = await sql`
      insert into webhook_deliveries (id, event_id, endpoint_id, redelivery_of, next_attempt_at, created_at)
      select gen_random_uuid(), event_id, endpoint_id, id, now(), now() from webhook_deliveries
      where event_id >= first_id_of(${month(-6)}) and event_id < first_id_of(${month(-5)})`.execute(
      tx,
    );
    expect(numAffectedRows).toBe(1n);
    const dropping = drop(month(-3)).catch((error: unknown) => error);
    // Until the other one has seen no pending delivery, and waits for this transaction, or no longer does.
    let isOver = false;
    void dropping.finally(() => {
      isOver = true;
    });
    const waits = sql<{ waits: boolean }>`
      select exists (select from pg_locks where not granted and relation in (
        'webhook_deliveries'::regclass, ${part('webhook_deliveries', -6)}::regclass)) as waits`;
    await vi.waitUntil(
      async () => isOver || (await waits.execute(shop.db)).rows[0]?.waits === true,
      { interval: 5, timeout: 30_000 },
    );
    // In an object, since a promise would be awaited here.
    return { dropping };
  });
  await dropping;
  await drop(month(-3)).catch(() => undefined);
  const { rows: waiting } = await sql`
    select from webhook_deliveries where status = 'pending'`.execute(shop.db);
  expect(waiting).toHaveLength(1);
  expect(await monthsOf('events')).toContain(named(-6));
});

test('the newest month stays, however old, since new ones are continued from it', async () => {
  // As a database that has been off for half a year, and whose months could not be created.
  await makeMonths(shop.db, month(-8), month(-6));
  expect(await drop(month(0))).toHaveLength(2 * 3);
  expect(await monthsOf('events')).toEqual([named(-6)]);
  await run();
  expect(await monthsOf('events')).toEqual(distances(0, 2));
});

test('a table without any month is reported as one whose rows find none', async () => {
  for (const { month: at } of (await listPartitions(shop.db)).filter(
    ({ table }) => table === 'request_log',
  )) {
    await sql`drop table ${sql.table(`request_log_${at?.replace('-', '')}`)}`.execute(shop.db);
  }
  expect(await findPartitionsEnd(shop.db, NOW)).toEqual(month(0));
});

test('it runs more often than the alert for hanging loops requires', () => {
  const { expr } = ALERT_RULES.find(({ alert }) => alert === 'WorkerLoopStalled') ?? { expr: '' };
  const seconds = Number(/> (\d+)$/.exec(expr)?.[1]);
  expect(2 * loop().intervalMs).toBeLessThan(seconds * 1_000);
});
