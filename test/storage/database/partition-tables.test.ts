import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, expect, inject, test, vi } from 'vitest';
import { describeFailure } from '#cli/failure.ts';
import { connect, type Database } from '#storage/database/connection.ts';
import { migrate, pendingMigrations, runMigrations } from '#storage/database/migrate.ts';
import { partitionTables, unpartitionedTables } from '#storage/database/partition-tables.ts';
import { createDatabase } from '../../helpers/database.ts';
import { idAt } from '../../helpers/id-at.ts';
import { openShop, type Shop } from '../../payments/webhooks/shop.ts';

/** Databases as the last migration leaves them, before their tables are partitioned. */

const TABLES = ['request_log', 'events', 'webhook_deliveries', 'webhook_attempts'];
const PARTITIONS = 'monthly partitions';

const opened: { name: string; db: Database }[] = [];
afterAll(async () => {
  const client = new pg.Client({ connectionString: inject('databaseServer') });
  await client.connect();
  for (const { name, db } of opened) {
    await db.destroy();
    await client.query(`drop database ${name} with (force)`);
  }
  await client.end();
});

interface Whole {
  readonly db: Database;
  readonly shop: Shop;
  readonly endpointId: string;
}

async function wholeDatabase(): Promise<Whole> {
  const name = `eps_whole_${randomBytes(6).toString('hex')}`;
  const url = await createDatabase(inject('databaseServer'), name, 'template0');
  const db = connect({
    url,
    poolSize: 10,
    applicationName: 'whole',
    onIdleError: () => undefined,
    statementTimeoutMs: 0,
  });
  opened.push({ name, db });
  await runMigrations(db);
  const shop = await openShop({ db, url, drop: async () => undefined }, Date.now());
  const { endpoint } = await shop.addEndpoint('http://127.0.0.1:1/');
  return { db, shop, endpointId: endpoint.id };
}

/** Adds a row to each table, dated `days` from now. */
async function addRows({ db, shop, endpointId }: Whole, days: number): Promise<string> {
  const at = sql`now() + ${days} * interval '1 day'`;
  const { rows } = await sql<{ id: string }>`
    with event as (
      insert into events select ${idAt(at)}, ${shop.merchant.id}, ${shop.payment.id},
        'payment_prompt.created', ${at}, '{}' returning id),
    delivery as (
      insert into webhook_deliveries (id, event_id, endpoint_id, next_attempt_at, created_at)
      select ${idAt(at)}, id, ${endpointId}, ${at}, ${at} from event returning id),
    request as (
      insert into request_log select ${idAt(at)}, ${at}, ${shop.merchant.id}, 1, 1, 400::smallint, false,
        false, null, gen_random_uuid()::text, 'E1001', null, 'GET', '/', ''),
    attempt as (
      insert into webhook_attempts select ${idAt(at)}, id, 1, ${at}, 1, 200 from delivery)
    select id from event`.execute(db);
  return rows[0]?.id ?? '';
}

async function counts(db: Database): Promise<number[]> {
  return Promise.all(
    TABLES.map(async table => {
      const { rows } = await sql<{ count: number }>`
        select count(*)::int as count from ${sql.table(table)}`.execute(db);
      return rows[0]?.count ?? 0;
    }),
  );
}

/** Indexes, checks and triggers of a table, without the differences of partitioned storage. */
async function shapeOf(db: Database, table: string): Promise<string[]> {
  const { rows } = await sql<{ text: string }>`
    select replace(indexdef, ' ON ONLY ', ' ON ') as text from pg_indexes where tablename = ${table}
    union all
    select conname || ' ' || pg_get_constraintdef(oid) from pg_constraint
    where conrelid = ${table}::regclass and contype = 'c'
    union all
    select pg_get_triggerdef(oid) from pg_trigger where tgrelid = ${table}::regclass and not tgisinternal
    order by 1`.execute(db);
  return rows.map(({ text }) => text.replace(/ NOT VALID$/, ''));
}

test('keeps all rows, indexes, checks and triggers, and accepts rows of months to come', async () => {
  const whole = await wholeDatabase();
  const { db } = whole;
  for (const days of [-400, -40, 0]) await addRows(whole, days);
  const shapes = () => Promise.all(TABLES.map(table => shapeOf(db, table)));
  const [before, stored] = [await shapes(), await counts(db)];
  expect(await pendingMigrations(db)).toEqual([PARTITIONS]);
  expect(await migrate(db)).toEqual([PARTITIONS]);
  expect(await pendingMigrations(db)).toEqual([]);
  expect(await migrate(db)).toEqual([]);
  expect(await counts(db)).toEqual(stored);
  // Only a key without the month cannot be unique over the whole table; each partition has it instead.
  const lost = [
    'CREATE UNIQUE INDEX webhook_deliveries_pkey ON public.webhook_deliveries USING btree (id)',
  ];
  expect(await shapes()).toEqual(before.map(shape => shape.filter(each => !lost.includes(each))));
  for (const days of [0, 40, 65]) await addRows(whole, days);
  expect(await counts(db)).toEqual(stored.map(count => count + 3));
});

test('keeps its constraints', async () => {
  const whole = await wholeDatabase();
  const { db, endpointId } = whole;
  await migrate(db);
  for (const days of [0, 65]) {
    const eventId = await addRows(whole, days);
    const add = (event: string, id = sql`gen_random_uuid()`, of: string | null = null) =>
      sql`
        insert into webhook_deliveries (id, event_id, endpoint_id, redelivery_of, next_attempt_at, created_at)
        values (${id}, ${event}::uuid, ${endpointId}, ${of}::uuid, now(), now())`.execute(db);
    // A duplicate delivery of an event, one of a missing event, and a redelivery of a missing delivery.
    await expect(add(eventId)).rejects.toThrow('duplicate key');
    const other = `${eventId.slice(0, -1)}${eventId.endsWith('0') ? '1' : '0'}`;
    await expect(add(other)).rejects.toThrow('violates foreign key');
    await expect(add(eventId, undefined, other)).rejects.toThrow('violates foreign key');
    for (const statement of [
      sql`update events set type = type where id = ${eventId}`,
      sql`delete from events where id = ${eventId}`,
      sql`update webhook_attempts set number = 2`,
      sql`delete from webhook_attempts`,
      sql`truncate webhook_attempts`,
    ]) {
      await expect(statement.execute(db)).rejects.toThrow('is refused');
    }
    await expect(
      sql`insert into events select id, merchant_id, gen_random_uuid(), type, created_at, data
          from events where id = ${eventId}`.execute(db),
    ).rejects.toThrow(/duplicate key|foreign key/);
  }
});

test('concurrent writes are neither lost nor refused', async () => {
  const whole = await wholeDatabase();
  const { db } = whole;
  await addRows(whole, -40);
  const written = await counts(db);
  let isDone = false;
  const write = async () => {
    let times = 0;
    for (; !isDone; times++) await addRows(whole, 0);
    return times;
  };
  const writers = [write(), write(), write()];
  // Concurrent calls find it done.
  const changed = await Promise.all([migrate(db), migrate(db)]);
  await addRows(whole, 0);
  isDone = true;
  const times = (await Promise.all(writers)).reduce((sum, each) => sum + each, 1);
  expect(changed.flat()).toEqual([PARTITIONS]);
  expect(await counts(db)).toEqual(written.map(count => count + times));
  expect(times).toBeGreaterThan(3);
});

test('resumes where it was interrupted, and waits for whoever holds a table', async () => {
  const whole = await wholeDatabase();
  const { db } = whole;
  await addRows(whole, -40);
  await db.connection().execute(async holder => {
    await sql`begin`.execute(holder);
    // Tables that refer to payments cannot be changed meanwhile.
    await sql`lock table payments in row exclusive mode`.execute(holder);
    const cut = migrate(db).catch((error: unknown) => error);
    const isAmid = async () =>
      (await unpartitionedTables(db)).join() === 'events,webhook_deliveries,webhook_attempts';
    await vi.waitUntil(isAmid, { timeout: 30_000, interval: 50 });
    await sql`
      select pg_terminate_backend(pid) from pg_locks
      where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`.execute(
      db,
    );
    expect(await cut).toMatchObject({
      // The connection is gone, so the check that it had put on the table stays.
      message: expect.stringMatching(/^Run "mp migrate" again: writes of .* are refused until/),
    });
    await addRows(whole, 0);
    const again = partitionTables(db);
    // It waits in short turns, between which others can read and write.
    await addRows(whole, 0);
    expect(await unpartitionedTables(db)).toHaveLength(3);
    await sql`commit`.execute(holder);
    expect(await again).toEqual(['events', 'webhook_deliveries', 'webhook_attempts']);
  });
  expect(await counts(db)).toEqual([3, 3, 3, 3]);
  await addRows(whole, 65);
});

test('reports who blocks it, rather than that the database is unavailable', async () => {
  const whole = await wholeDatabase();
  const { db } = whole;
  await db.connection().execute(async holder => {
    await sql`begin`.execute(holder);
    // As a backup does.
    await sql`lock table webhook_deliveries in access share mode`.execute(holder);
    const error: unknown = await partitionTables(db, 1).catch((reason: unknown) => reason);
    expect(describeFailure(error)).toMatch(/^Run "mp migrate" again\. Others have held a table/);
    expect(await unpartitionedTables(db)).toEqual(TABLES);
    await addRows(whole, 65);
    await sql`rollback`.execute(holder);
  });
});

test('rows of later months are refused, and the tables left as they were', async () => {
  const whole = await wholeDatabase();
  const { db } = whole;
  await addRows(whole, 400);
  await expect(migrate(db)).rejects.toThrow(/before_[0-9]{6}/);
  await addRows(whole, 400);
  expect(await unpartitionedTables(db)).toEqual(TABLES);
});

test('a call that fails halfway leaves tables that accept rows of all months', async () => {
  const whole = await wholeDatabase();
  const { db } = whole;
  // The name of the first partition of events is taken.
  await sql`create table events_before ()`.execute(db);
  await expect(partitionTables(db)).rejects.toThrow('events_before');
  expect(await unpartitionedTables(db)).toEqual(TABLES.slice(1));
  const bounded = sql`
    select from pg_constraint where conname ~ '^before_' and conrelid <> 'request_log_before'::regclass`;
  expect((await bounded.execute(db)).rows).toEqual([]);
  // Two months later, when events have rows beyond the bound that was chosen first.
  await sql`
    alter table request_log_before rename constraint ${sql.id(await boundOf(db))} to before_202001`.execute(
    db,
  );
  await sql`drop table events_before`.execute(db);
  expect(await partitionTables(db)).toEqual(TABLES.slice(1));
  await addRows(whole, 65);
});

async function boundOf(db: Database): Promise<string> {
  const { rows } = await sql<{ name: string }>`
    select conname as name from pg_constraint where conname ~ '^before_'`.execute(db);
  return rows[0]?.name ?? '';
}

test('each remaining task is listed once', async () => {
  const { db } = await wholeDatabase();
  await migrate(db);
  await sql`delete from kysely_migration where name like '0062%'`.execute(db);
  expect(await pendingMigrations(db)).toEqual(['0062_month_partitions']);
});
