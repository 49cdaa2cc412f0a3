import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { repeatedQueries } from '../../src/database/repeated-query.ts';
import { sessionConfig } from '../../src/database/session.ts';
import { cloneDatabase, type TestDatabase } from '../helpers/database.ts';

let database: TestDatabase;

beforeEach(async () => {
  database = await cloneDatabase();
});
afterEach(() => database.drop());

describe.each([false, true])('on a connection with pipeline: %s', pipeline => {
  let client: pg.Client;
  let described = 0;
  let withoutRows = 0;
  let run: (text: string, values?: unknown[], name?: string) => Promise<pg.QueryResult>;

  beforeEach(async () => {
    const session = { url: database.url, applicationName: 'test-repeated' };
    client = new pg.Client({ ...sessionConfig(session), pipeline });
    await client.connect();
    described = 0;
    client.connection.on('rowDescription', () => {
      described += 1;
    });
    withoutRows = 0;
    client.connection.on('noData', () => {
      withoutRows += 1;
    });
    const ask = repeatedQueries(client);
    run = (text, values = [], name = text) =>
      new Promise((resolve, reject) => {
        ask({ name, text, values }, (error, result) => {
          if (error === null) resolve(result);
          else reject(error);
        });
      });
  });
  afterEach(() => client.end());

  test('a statement is described once, and its rows are read alike each time', async () => {
    const text = `
      select place, place + 1::bigint as bigint, null as nothing, $1::text as text, now() as instant,
             date '2026-05-17' as day, '\\x5f'::bytea as bytes, array['a', null] as list,
             '{"a": 1}'::json as json, true as boolean
      from generate_series(1, 3) as place`;
    await client.query('begin');
    const first = await run(text, ['a'], 'all_types');
    const again = await run(text, ['a'], 'all_types');
    expect(first.rows[0]).toMatchObject({ bigint: 2, text: 'a', day: '2026-05-17', boolean: true });
    expect(again.rows).toStrictEqual(first.rows);
    expect(again.rowCount).toBe(3);
    expect((await run(text, [null], 'all_types')).rows[2]).toMatchObject({ place: 3, text: null });
    expect(described).toBe(1);
  });

  test('what has no rows tells how many it changed', async () => {
    for (const count of [2, 1]) {
      const changed = await run(
        'update networks set position = position where position < $1',
        [count],
        'change',
      );
      expect(changed).toMatchObject({ command: 'UPDATE', rowCount: count, rows: [] });
    }
    expect(withoutRows).toBe(1);
  });

  test('what returns rows of what it changed returns them each time', async () => {
    const text = 'update networks set is_active = true where id = $1 returning id';
    const first = await run(text, ['sol']);
    expect(first).toMatchObject({ command: 'UPDATE', rowCount: 1, rows: [{ id: 'sol' }] });
    expect((await run(text, ['sol'])).rows).toEqual(first.rows);
    expect((await run(text, ['none'])).rows).toEqual([]);
    expect(described).toBe(1);
  });

  /** What became of queries that are sent together, where one need not wait for the other. */
  async function settle(queries: readonly (() => Promise<pg.QueryResult>)[]) {
    const asked: Promise<pg.QueryResult>[] = [];
    for (const query of queries) {
      const answer = query();
      asked.push(answer);
      if (!pipeline) await answer.catch(() => undefined);
    }
    const settled = await Promise.allSettled(asked);
    return settled.map(each =>
      each.status === 'fulfilled' ? each.value.rows : each.reason.message,
    );
  }

  test('each of many gets its own rows', async () => {
    const numbers = Array.from({ length: 100 }, (_, index) => index);
    const echoes = numbers.map(number => () => run('select $1::integer as echo', [number]));
    for (let time = 0; time < 2; time++) {
      expect(await settle(echoes)).toEqual(numbers.map(number => [{ echo: number }]));
    }
  });

  test('one that fails takes none with it, whether PostgreSQL refuses it or its rows', async () => {
    const divide = (by: number) => run('select 6::bigint / $1::bigint as share', [by]);
    const read = (big: string) => run('select $1::bigint as big, 1 as one', [big]);
    await settle([() => divide(2), () => read('1')]);
    const unsafe = '9007199254740993';
    const fresh = () => run('select $1::integer as fresh', [7]);
    const mixed = [
      () => divide(0),
      () => divide(3),
      () => read(unsafe),
      fresh,
      () => read('2'),
      fresh,
    ];
    expect(await settle(mixed)).toEqual([
      'division by zero',
      [{ share: 2 }],
      `bigint ${unsafe} is not a safe integer`,
      [{ fresh: 7 }],
      [{ big: 2, one: 1 }],
      [{ fresh: 7 }],
    ]);
  });

  test('a connection that is lost fails what it owes', async () => {
    const sleep = (seconds: number) => run('select pg_sleep($1::float)::text as slept', [seconds]);
    await sleep(0);
    client.on('error', () => undefined);
    const owed = sleep(60);
    client.connection.stream.destroy();
    await expect(owed).rejects.toThrow('Connection terminated');
  });

  test('one that failed at first is described when it succeeds', async () => {
    const divide = (by: number) => run('select 6 / $1::integer as share', [by]);
    await expect(divide(0)).rejects.toThrow('division by zero');
    expect((await divide(2)).rows).toEqual([{ share: 3 }]);
    expect((await divide(3)).rows).toEqual([{ share: 2 }]);
  });

  test('columns that change are never read as what they were', async () => {
    const text = 'select kind from changing';
    await client.query('create table changing as select 1 as kind');
    expect((await run(text)).rows).toEqual([{ kind: 1 }]);
    await client.query(`alter table changing alter kind type text using 'one'`);
    await expect(run(text)).rejects.toMatchObject({ code: '0A000' });
    await client.query('alter table changing alter kind type integer using 2');
    expect((await run(text)).rows).toEqual([{ kind: 2 }]);
  });
});
