import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { columnTypes } from '#storage/database/column-values.ts';
import { describeOnce } from '#storage/database/row-descriptions.ts';
import { cloneDatabase, type TestDatabase } from '../../helpers/database.ts';

let database: TestDatabase;
let client: pg.Client;
let descriptions = 0;
let run: (text: string, values?: unknown[]) => Promise<pg.QueryResult>;

beforeAll(async () => {
  database = await cloneDatabase();
  client = new pg.Client({
    connectionString: database.url,
    types: columnTypes,
    pipeline: true,
  } as pg.ClientConfig);
  await client.connect();
  client.connection.on('rowDescription', () => {
    descriptions += 1;
  });
  const runPrepared = describeOnce(client);
  run = (text, values = []) =>
    new Promise((resolve, reject) => {
      runPrepared({ name: text.trim().slice(0, 40), text, values }, (error, result) =>
        error === null ? resolve(result) : reject(error),
      );
    });
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

const ROWS = `
  select number, number::bigint * 2 as double, case when number % 2 = 0 then 'even' end as even,
         timestamptz '2026-05-17 12:00+00' + number * interval '1 hour' as at
  from generate_series(1, $1::integer) as number`;

test('every execution parses rows like the first, which alone requests the description', async () => {
  descriptions = 0;
  const first = await run(ROWS, [3]);
  const at = (hour: number) => new Date(Date.UTC(2026, 4, 17, 12 + hour));
  const rows = [
    { number: 1, double: 2, even: null, at: at(1) },
    { number: 2, double: 4, even: 'even', at: at(2) },
    { number: 3, double: 6, even: null, at: at(3) },
  ];
  expect(first.rows).toEqual(rows);
  const more = await Promise.all([run(ROWS, [1]), run(ROWS, [3]), run(ROWS, [0])]);
  expect(more.map(result => result.rows)).toEqual([rows.slice(0, 1), rows, []]);
  expect(more.map(({ command, rowCount }) => ({ command, rowCount }))).toEqual(
    [1, 3, 0].map(rowCount => ({ command: 'SELECT', rowCount })),
  );
  expect(descriptions).toBe(1);
});

test('a statement that fails leaves the connection and its other statements as they were', async () => {
  await run(ROWS, [1]);
  const divide = 'select 12 / $1::integer as quotient';
  expect((await run(divide, [4])).rows).toEqual([{ quotient: 3 }]);
  const [failed, fine] = await Promise.allSettled([run(divide, [0]), run(ROWS, [1])]);
  expect(failed).toMatchObject({ reason: { code: '22012' } });
  expect(fine).toMatchObject({ value: { rowCount: 1 } });
  expect((await run(divide, [6])).rows).toEqual([{ quotient: 2 }]);
});

test('a statement without rows has none, however often it is executed', async () => {
  await client.query('create temporary table kept (at integer)');
  for (let time = 0; time < 3; time++) {
    expect(await run('insert into kept values ($1)', [time])).toMatchObject({
      rows: [],
      rowCount: 1,
    });
  }
});

test('PostgreSQL refuses a statement whose columns have changed', async () => {
  await client.query('create temporary table changed (a integer)');
  await client.query('insert into changed values (1)');
  const all = 'select * from changed';
  expect((await run(all)).rows).toEqual([{ a: 1 }]);
  await client.query('alter table changed add column b text');
  await expect(run(all)).rejects.toMatchObject({ code: '0A000' });
});
