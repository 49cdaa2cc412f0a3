import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { EVENT_TYPES } from '#schemas/event.ts';
import type { Database } from '#storage/database/connection.ts';
import { sessionConfig } from '#storage/database/session.ts';
import { listAttempts, releaseDelivery } from '#storage/repositories/webhooks/attempts.ts';
import { claimDeliveries } from '#storage/repositories/webhooks/claims.ts';
import { cancelDeliveries, listDeliveries } from '#storage/repositories/webhooks/deliveries.ts';
import { monthsOf } from '#storage/repositories/webhooks/event-months.ts';
import {
  type EventCursor,
  type EventFilters,
  findMerchantEvent,
  listDeliveriesOf,
  listMerchantEvents,
} from '#storage/repositories/webhooks/merchant-events.ts';
import { withholdDelivery } from '#storage/repositories/webhooks/withheld.ts';
import { cloneDatabase, type TestDatabase } from '../../helpers/database.ts';
import { idAt } from '../../helpers/id-at.ts';
import { makeMonths, monthFrom } from '../../helpers/months.ts';
import { openShop } from '../../payments/webhooks/shop.ts';

/** How many rows a page of events reads, however long and failed its history is. */

const EVENTS = 4_000;
const LIMIT = 11;
const LONG = /^(events|webhook_deliveries|webhook_attempts)/;
const ENDPOINTS = 2;
/** A page for each type at each endpoint, each event of these, and the rows for finding one by its ID. */
const READ_MAXIMUM = EVENT_TYPES.length * ENDPOINTS * LIMIT + 3 * LIMIT;
/** One in this many events has the rare type. */
const RARE_OF = 400;
const RARE = 'payment_prompt.deposit_unmatched';
const COMMON = 'payment_prompt.created';

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** State of the statistics by which statements are planned. */
const STATISTICS = ['never taken', 'of few events', 'of a time when all was taken', 'of now'];
const FEW = 100;
/** Minutes between events; the newest is of now, and they cover four months. */
const APART_MINUTES = 40;
const NEWEST = new Date();

const OLDEST = new Date(NEWEST.getTime() - EVENTS * APART_MINUTES * 60_000);

let database: TestDatabase;
/** With the service's connection settings. */
let session: pg.Client;
let merchantId: string;
let paymentId: string;
let middle: string;
let beyondMiddle: EventCursor;

async function open(statistics: string): Promise<void> {
  database = await cloneDatabase();
  const { db, url } = database;
  session = new pg.Client(sessionConfig({ url, applicationName: 'test', plans: 'by-index' }));
  await session.connect();
  await makeMonths(db, monthFrom(OLDEST, 0), monthFrom(NEWEST, 3));
  const { rows: parts } = await sql<{ name: string }>`
    select inhrelid::regclass::text as name from pg_inherits
    where inhparent in ('events'::regclass, 'webhook_deliveries'::regclass)`.execute(db);
  for (const { name } of parts) {
    await sql`alter table ${sql.table(name)} set (autovacuum_enabled = false)`.execute(db);
  }
  const reached = async (time: string) => {
    if (time === statistics) await sql`vacuum (analyze)`.execute(db);
  };
  const shop = await openShop(database);
  merchantId = shop.merchant.id;
  paymentId = shop.payment.id;
  const [good, bad] = [
    (await shop.addEndpoint('http://127.0.0.1:1/good')).endpoint.id,
    (await shop.addEndpoint('http://127.0.0.1:1/bad')).endpoint.id,
  ];
  const deliver = (endpointId: string, status: string) => sql`
    insert into webhook_deliveries (id, event_id, endpoint_id, status, finished_at, created_at)
    select md5(${endpointId} || id)::uuid, id, ${endpointId}, ${status}, now(), created_at
    from events on conflict do nothing`;
  const addEvents = (last: number) => sql`
    insert into events (id, merchant_id, payment_id, type, created_at, data)
    select ${idAt(sql`at`, sql`md5('event ' || n)::uuid`)}, ${merchantId},
           case when n % ${EVENTS / 2} = 0 then ${paymentId}::uuid end,
           case when n % ${sql.lit(RARE_OF)} = 0 then ${RARE} else ${COMMON} end,
           at, '{}'
    from generate_series(1, ${last}::int) as n,
         lateral (select ${NEWEST}::timestamptz - n * ${sql.lit(APART_MINUTES)} * interval '1 minute' as at) as time
    on conflict do nothing`;
  await addEvents(FEW).execute(db);
  await deliver(good, 'succeeded').execute(db);
  await deliver(bad, 'failed').execute(db);
  await reached('of few events');
  await db.updateTable('webhook_deliveries').set('status', 'succeeded').execute();
  await addEvents(EVENTS).execute(db);
  await deliver(good, 'succeeded').execute(db);
  await reached('of a time when all was taken');
  // With a plan that the session keeps.
  await session.query('set plan_cache_mode = force_generic_plan');
  await sendAgain(1);
  // One endpoint has accepted all, the other hardly anything; the older half was redelivered to it by hand.
  await deliver(bad, 'failed').execute(db);
  await sql`
    insert into webhook_deliveries (id, event_id, endpoint_id, redelivery_of, status, finished_at, created_at)
    select md5('again ' || id)::uuid, event_id, endpoint_id, id, 'succeeded', now(), now()
    from webhook_deliveries
    where endpoint_id = ${bad} and created_at < ${NEWEST}::timestamptz - ${(EVENTS / 2) * APART_MINUTES} * interval '1 minute'`.execute(
    db,
  );
  await reached('of now');
  const event = await db
    .selectFrom('events')
    .select(['id', 'created_at as createdAt'])
    .orderBy('created_at')
    .offset(EVENTS / 2)
    .limit(1)
    .executeTakeFirstOrThrow();
  middle = event.id;
  beyondMiddle = event;
}

/** The ID of an event by its number; 1 is the newest. */
async function idOf(number: number): Promise<string> {
  const { id } = await database.db
    .selectFrom('events')
    .select('id')
    .orderBy('created_at', 'desc')
    .offset(number - 1)
    .limit(1)
    .executeTakeFirstOrThrow();
  return id;
}

/** Redelivers an event, which its endpoints accept. */
const sendAgain = async (number: number) =>
  session.query(
    `insert into webhook_deliveries (id, event_id, endpoint_id, redelivery_of, status, finished_at, created_at)
     select gen_random_uuid(), event_id, endpoint_id, id, 'succeeded', now(), now()
     from webhook_deliveries where event_id = $1 and redelivery_of is null`,
    [await idOf(number)],
  );

async function close(): Promise<void> {
  await session.end();
  await database.drop();
}

interface Read {
  /** Rows read from the long tables. */
  readonly rows: number;
  /** Partitions read of the long tables. */
  readonly parts: ReadonlySet<string>;
}

/** What statements read, with plans for their values and with generic plans. */
async function whatIsRead(run: (db: Database) => Promise<unknown>): Promise<Read[]> {
  const query = vi.spyOn(pg.Client.prototype, 'query');
  await run(database.db);
  const sent = query.mock.calls
    .map(([statement]) => statement as unknown as pg.QueryConfig)
    // A new connection first asks the server for its role.
    .filter(({ text }) => !text.includes('pg_is_in_recovery'));
  query.mockRestore();
  expect(sent).toHaveLength(1);
  const reads: Read[] = [];
  for (const mode of ['force_custom_plan', 'force_generic_plan']) {
    await session.query(`set plan_cache_mode = ${mode}`);
    const plans: PlanNode[] = [];
    for (const { text, values = [] } of sent) {
      const literals = values
        .map(value => (value === null ? 'null' : pg.escapeLiteral(toText(value))))
        .join(', ');
      await session.query(`prepare it as ${text}`);
      const { rows } = await session.query(
        `explain (analyze, timing off, format json) execute it${literals && `(${literals})`}`,
      );
      plans.push(rows[0]['QUERY PLAN'][0].Plan);
      await session.query('deallocate it');
    }
    reads.push({
      rows: plans.reduce((sum, plan) => sum + countRows(plan), 0),
      parts: new Set(plans.flatMap(partsOf)),
    });
  }
  return reads;
}

const rowsRead = async (run: (db: Database) => Promise<unknown>) =>
  (await whatIsRead(run)).map(({ rows }) => rows);

/** Partitions that a plan has read. */
function partsOf(node: PlanNode): string[] {
  const name = node['Relation Name'] ?? '';
  const own = LONG.test(name) && node['Actual Loops'] > 0 ? [name] : [];
  return [...own, ...(node.Plans ?? []).flatMap(partsOf)];
}

function toText(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map(toText).join()}}`;
  return value instanceof Date ? value.toISOString() : String(value);
}

function countRows(node: PlanNode): number {
  const own = LONG.test(node['Relation Name'] ?? '')
    ? node['Actual Loops'] *
      (node['Actual Rows'] +
        (node['Rows Removed by Filter'] ?? 0) +
        (node['Rows Removed by Index Recheck'] ?? 0))
    : 0;
  return (node.Plans ?? []).reduce((sum, plan) => sum + countRows(plan), own);
}

const long = { createdFrom: new Date(0), createdTo: new Date(Date.now() + 60_000) };
const filters: [name: string, Partial<EventFilters>][] = [
  ['all', {}],
  ['a rare type', { types: [RARE] }],
].flatMap(
  ([name, type]) =>
    [
      [`${name}`, type],
      [`${name}, not delivered`, { ...(type as object), undelivered: true }],
    ] as [string, Partial<EventFilters>][],
);

/** Partitions of tables of which more than one month was read, without those made ahead. */
function monthsIn(parts: ReadonlySet<string>): string[] {
  const ahead = monthFrom(NEWEST, 1).toISOString().slice(0, 7).replace('-', '');
  const past = [...parts].filter(name => name.slice(-ahead.length) < ahead);
  const byTable = Map.groupBy(past, name => name.slice(0, -ahead.length));
  return [...byTable.values()].filter(({ length }) => length > 1).flat();
}

describe.each(STATISTICS)('with statistics %s', statistics => {
  beforeAll(() => open(statistics));
  afterAll(close);

  test.each(filters)('%s: reads no more than a page of each range', async (_, filter) => {
    const tooMany: string[] = [];
    for (const times of [{}, long]) {
      for (const payment of [{}, { paymentId }]) {
        for (const oldestFirst of [false, true]) {
          for (const beyond of [undefined, beyondMiddle]) {
            const page = { oldestFirst, beyond, limit: LIMIT };
            const wanted = {
              types: EVENT_TYPES,
              undelivered: false,
              ...filter,
              ...times,
              ...payment,
            };
            const read = await rowsRead(db => listMerchantEvents(db, merchantId, wanted, page));
            if (Math.max(...read) > READ_MAXIMUM)
              tooMany.push(JSON.stringify({ read, wanted, page }));
          }
        }
      }
    }
    expect(tooMany).toEqual([]);
  });

  test('a row that is looked up by its ID is read from its month', async () => {
    const { db } = database;
    const { id, endpoint_id: endpointId } = await db
      .selectFrom('webhook_deliveries')
      .selectAll()
      .where('event_id', '=', middle)
      .where('redelivery_of', 'is', null)
      .limit(1)
      .executeTakeFirstOrThrow();
    const key = { deliveryId: id, attempt: 1, event: { id: middle } };
    // The days before and after, which are searched as well, are in the same month.
    const amid = new Date(monthFrom(NEWEST, 0).getTime() + 14 * 24 * 60 * 60_000);
    const delivery = { id, created_at: amid, finished_at: amid, attempts: 0 };
    const each: ((db: Database) => Promise<unknown>)[] = [
      db => findMerchantEvent(db, merchantId, middle),
      db => listDeliveriesOf(db, [middle]),
      db => listAttempts(db, [delivery], LIMIT),
      db => releaseDelivery(db, key),
      db => withholdDelivery(db, key, NEWEST),
      db => cancelDeliveries(db, { id, event_id: middle }, NEWEST),
      db => listDeliveries(db, { id, event_id: middle }, 1),
      db =>
        claimDeliveries(
          db,
          [{ endpointId, count: LIMIT }],
          { now: NEWEST, until: NEWEST },
          monthsOf([middle]),
        ),
    ];
    const read: string[] = [];
    for (const run of each) {
      for (const { parts } of await whatIsRead(run)) read.push(...monthsIn(parts));
    }
    expect(read).toEqual([]);
  });

  test('deliveries are read by their events', async () => {
    const read = await rowsRead(db => listDeliveriesOf(db, [middle, paymentId]));
    for (const rows of read) expect(rows).toBeLessThanOrEqual(2 * 3);
  });

  test('a redelivery is not searched for among all failed deliveries', async () => {
    await session.query('set plan_cache_mode = force_generic_plan');
    const countScans = async () => {
      const { rows } = await session.query(
        `select sum(pg_stat_get_xact_numscans(inhrelid)) as scans
         from pg_inherits where inhparent = 'webhook_deliveries_untaken'::regclass`,
      );
      return rows[0].scans;
    };
    await session.query('begin');
    const before = await countScans();
    await sendAgain(200);
    expect(await countScans()).toBe(before);
    const { rows } = await session.query(
      `select untaken_type from webhook_deliveries where event_id = $1 and untaken_type is not null`,
      [await idOf(200)],
    );
    await session.query('rollback');
    expect(rows).toEqual([]);
  });
});
