import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Database } from '#storage/database/connection.ts';
import { isDatabaseUnavailable } from '#storage/database/errors.ts';
import { connectPipeline, type PipelineOptions } from '#storage/database/pipeline.ts';
import { PATIENT_CONNECT_TIMEOUT_MS } from '#storage/database/time-limits.ts';
import { cloneDatabase, type TestDatabase } from '../../helpers/database.ts';
import { freePort } from '../../helpers/redis-server.ts';
import { SOON } from '../../helpers/soon.ts';
import { startTcpProxy, type TcpProxy } from '../../helpers/tcp-proxy.ts';

let database: TestDatabase;
const opened: Database[] = [];

beforeAll(async () => {
  database = await cloneDatabase();
});
afterEach(() => Promise.all(opened.splice(0).map(db => db.destroy())));
afterAll(() => database.drop());

function open({
  url = database.url,
  connections = 1,
  statementTimeoutMs = 10_000,
  onError = () => {},
  ...others
}: Partial<PipelineOptions> = {}) {
  const errors: Error[] = [];
  const db = connectPipeline({
    url,
    connections,
    statementTimeoutMs,
    ...others,
    applicationName: 'test-pipeline',
    onError: error => {
      errors.push(error);
      onError(error);
    },
  });
  opened.push(db);
  return { db, errors };
}

async function value<T>(db: Database, query: RawBuilder<{ value: T }>): Promise<T | undefined> {
  const { rows } = await query.execute(db);
  return rows[0]?.value;
}

const pid = (db: Database) => value<number>(db, sql`select pg_backend_pid() as value`);

test('each of many concurrent queries gets its own result', async () => {
  const { db } = open({ connections: 2 });
  const numbers = Array.from({ length: 500 }, (_, index) => index);
  const results = await Promise.all(
    numbers.map(number => value(db, sql<{ value: number }>`select ${number}::integer as value`)),
  );
  expect(results).toEqual(numbers);
});

test('queries are sent without waiting for the results before them', async () => {
  const { db } = open();
  const order: string[] = [];
  const slow = value(db, sql`select pg_sleep(0.2)::text as value`).then(() => order.push('slow'));
  const quick = value(db, sql`select clock_timestamp() as value`).then(() => order.push('quick'));
  await Promise.all([slow, quick]);
  expect(order).toEqual(['slow', 'quick']);
});

test('a query that fails does not affect the others', async () => {
  const { db } = open();
  const results = await Promise.allSettled([
    value(db, sql`select 1 as value`),
    value(db, sql`select 1 / 0 as value`),
    value(db, sql`select 'x'::integer as value`),
    value(db, sql`select 2 as value`),
  ]);
  expect(results.map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'rejected',
    'fulfilled',
  ]);
});

/** Waits until both connections of a pipeline of two are open; returns their sessions' process IDs. */
async function connectBoth(db: Database): Promise<number[]> {
  const pids = new Set<number>();
  await vi.waitFor(async () => {
    pids.add((await pid(db)) ?? 0);
    expect(pids.size).toBe(2);
  }, SOON);
  return [...pids];
}

test('queries alternate between the connections, which are opened once', async () => {
  const { db } = open({ connections: 2 });
  const both = await connectBoth(db);
  const pids = await Promise.all(Array.from({ length: 20 }, () => pid(db)));
  const shares = Map.groupBy(pids, each => each);
  expect([...shares.values()].map(({ length }) => length)).toEqual([10, 10]);
  expect(new Set(pids)).toEqual(new Set(both));
});

test('queries that arrive during the search for the primary share its connection', async () => {
  const { host } = new URL(database.url);
  // The first server refuses connections, so that the second one has to be found.
  const { db } = open({ url: database.url.replace(host, `127.0.0.1:${await freePort()},${host}`) });
  const queries: Promise<number | undefined>[] = [];
  let isFound = false;
  while (!isFound && queries.length < 100_000) {
    const query = pid(db);
    // Otherwise a failure before the end is an unhandled rejection.
    query.then(
      () => {
        isFound = true;
      },
      () => undefined,
    );
    queries.push(query);
    await setImmediate();
  }
  expect(new Set(await Promise.all(queries)).size).toBe(1);
});

test('refuses transactions, which would include other queries', async () => {
  const { db } = open();
  const work = db.transaction().execute(tx => sql`select 1`.execute(tx));
  await expect(work).rejects.toThrow('no transactions');
  expect(await value(db, sql`select 1 as value`)).toBe(1);
});

describe('a connection that is lost', () => {
  test('fails its queries in flight, and the next query opens another', async () => {
    const { db, errors } = open();
    const before = await pid(db);
    const owed = value(db, sql`select pg_sleep(60)::text as value`).catch(error => error);
    await sql`select pg_terminate_backend(${before})`.execute(database.db);
    expect(isDatabaseUnavailable(await owed)).toBe(true);
    expect(await pid(db)).not.toBe(before);
    expect(errors.length).toBeGreaterThan(0);
  });

  test('fails each query with an error of its own, whose stack shows that query’s caller only', async () => {
    const { proxy, url } = await throughProxy();
    const { db } = open({ url });
    await value(db, sql`select 1 as value`);
    const owed = Array.from({ length: 50 }, () =>
      value(db, sql`select pg_sleep(1)::text as value`).catch(error => error),
    );
    await value(open().db, sql`select 1 as value`);
    await proxy.cut();
    const failures = await Promise.all(owed);
    expect(failures.every(isDatabaseUnavailable)).toBe(true);
    expect(new Set(failures).size).toBe(failures.length);
    for (const { stack } of failures as { stack: string }[])
      expect(stack.match(/executeQuery/g)?.length).toBeLessThan(5);
  });

  test('while the server is down, every query fails as unavailable, and later ones succeed', async () => {
    const { proxy, url } = await throughProxy();
    const { db } = open({ url, connections: 2 });
    expect(await value(db, sql`select 1 as value`)).toBe(1);
    await proxy.cut();
    for (let time = 0; time < 12; time++) {
      const failure = await value(db, sql`select 1 as value`).catch(error => error);
      expect(isDatabaseUnavailable(failure)).toBe(true);
    }
    await proxy.open();
    expect(await value(db, sql`select 1 as value`)).toBe(1);
    await proxy.cut();
  });

  test('leaves its queries to another open connection, until it can be reopened', async () => {
    const { db, errors } = open({ connections: 2 });
    const pids = await connectBoth(db);
    const [first = 0] = pids;
    const url = new URL(database.url);
    const name = url.pathname.slice(1);
    const allow = (connections: boolean) =>
      sql`alter database ${sql.id(name)} allow_connections ${sql.lit(connections)}`;
    url.pathname = '/postgres';
    const { db: elsewhere } = open({ url: url.href });
    await allow(false).execute(elsewhere);
    await sql`select pg_terminate_backend(${first})`.execute(elsewhere);
    await vi.waitFor(() => expect(errors).not.toEqual([]), SOON);
    const others = await Promise.all(Array.from({ length: 10 }, () => pid(db)));
    for (let time = 0; time < 10; time++) others.push(await pid(db));
    expect(new Set(others)).toEqual(new Set(pids.filter(each => each !== first)));
    const failures = () =>
      errors.filter(({ message }) => message.includes('not currently accepting'));
    await vi.waitFor(() => expect(failures()).not.toEqual([]), SOON);
    const begun = performance.now();
    while (performance.now() - begun < 300) await pid(db);
    // Without a pause it would have retried again and again.
    expect(failures().length).toBeLessThan(3);
    await allow(true).execute(elsewhere);
    await vi.waitFor(async () => expect(pids).not.toContain(await pid(db)), SOON);
  });

  test('delays nothing while it hangs and another one serves', async () => {
    const { proxy, url } = await throughProxy();
    const { db } = open({ url, connections: 2 });
    const [first = 0, second] = await connectBoth(db);
    proxy.hold();
    await sql`select pg_terminate_backend(${first})`.execute(database.db);
    const pids: unknown[] = [];
    const begun = performance.now();
    while (pids.length < 20) pids.push(await pid(db).catch(() => undefined));
    expect(performance.now() - begun).toBeLessThan(PATIENT_CONNECT_TIMEOUT_MS);
    expect(new Set(pids.slice(2))).toEqual(new Set([second]));
    await proxy.cut();
  });

  test('ends after the next one was opened, without closing that one', async () => {
    const reopened: Promise<number | undefined>[] = [];
    const { db } = open({ onError: () => reopened.push(pid(db)) });
    const before = await pid(db);
    await sql`select pg_terminate_backend(${before})`.execute(database.db);
    await vi.waitFor(() => expect(reopened).not.toEqual([]), SOON);
    const after = await reopened[0];
    expect(after).not.toBe(before);
    expect(await pid(db)).toBe(after);
  });

  test('that is never made is distinguished from an invalid query', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void silent.close());
    await once(silent, 'listening');
    const url = new URL(database.url);
    url.host = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const { db } = open({ url: url.href, connectTimeoutMs: 100 });
    const failure = await value(db, sql`select 1 as value`).catch(error => error);
    expect(failure).toMatchObject({ message: 'timeout expired' });
    expect(isDatabaseUnavailable(failure)).toBe(true);
  });

  test('that is silent is given up once no statement may take so long', async () => {
    const { proxy, url } = await throughProxy();
    // Enough for a statement on a busy machine; the test waits for the margin above it.
    const { db } = open({ url, statementTimeoutMs: 500 });
    await value(db, sql`select 1 as value`);
    proxy.freeze();
    const failure = await value(db, sql`select 2 as value`).catch(error => error);
    expect(isDatabaseUnavailable(failure)).toBe(true);
    await proxy.cut();
  });

  // The first query waits for as long as a statement may, and then the next one would.
  test('is given up for a query that others delay for as long', async () => {
    const statementTimeoutMs = 1_000;
    const { db, errors } = open({ statementTimeoutMs });
    await value(db, sql`select 1 as value`);
    await database.db.transaction().execute(async tx => {
      await sql`lock table networks in access exclusive mode`.execute(tx);
      const begun = performance.now();
      const waiting = Array.from({ length: 10 }, () =>
        value(db, sql`select count(*) as value from networks`).catch(error => error),
      );
      const failures = await Promise.all(waiting);
      expect(failures.every(isDatabaseUnavailable)).toBe(true);
      expect(performance.now() - begun).toBeLessThan(7 * statementTimeoutMs);
    });
    expect(errors).not.toEqual([]);
    expect(await value(db, sql`select 1 as value`)).toBe(1);
  });

  async function throughProxy(): Promise<{ proxy: TcpProxy; url: string }> {
    const target = new URL(database.url);
    const proxy = await startTcpProxy(target.hostname, Number(target.port));
    target.host = `127.0.0.1:${proxy.port}`;
    return { proxy, url: target.href };
  }
});
