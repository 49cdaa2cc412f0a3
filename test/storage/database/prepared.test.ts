import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect, type Database } from '#storage/database/connection.ts';
import { type Given, prepare } from '#storage/database/prepared.ts';
import { cloneDatabase, type TestDatabase } from '../../helpers/database.ts';

let database: TestDatabase;
let one: Database;

beforeAll(async () => {
  database = await cloneDatabase();
  one = openOne();
});
afterAll(async () => {
  await one.destroy();
  await database.drop();
});

function openOne(pooler = false): Database {
  return connect({
    url: database.url,
    poolSize: 1,
    applicationName: 'test-prepared',
    onIdleError: () => undefined,
    pooler,
  });
}

const networks = prepare('test_networks', (db, given: Given<{ family: string; limit: number }>) =>
  db
    .selectFrom('networks')
    .select('id')
    .where(sql<boolean>`family = ${given('family')}`)
    .where('is_active', '=', true)
    .orderBy('position')
    .limit(given('limit')),
);
const echo = prepare(
  'test_echo',
  (_db, given: Given<{ text: string | null; at: Date }>) =>
    sql<{
      text: string | null;
      again: string | null;
      at: Date;
    }>`select ${given('text')}::text as text, ${given('text')}::text as again,
              ${given('at')}::timestamptz as at`,
);

const preparedNames = async (db: Database) => {
  const { rows } = await sql<{ name: string; text: string }>`
    select name, statement as text from pg_prepared_statements order by name`.execute(db);
  return rows.map(({ name }) => name);
};

test('takes its values by name, in any position and any number of times', async () => {
  expect(await networks(one, { family: 'solana', limit: 1 })).toEqual([{ id: 'sol' }]);
  expect(await networks(one, { family: 'solana', limit: 2 })).toHaveLength(2);
  const at = new Date('2026-05-17T12:00:00.120Z');
  expect(await echo(one, { text: "a'b", at })).toEqual([{ text: "a'b", again: "a'b", at }]);
  expect(await echo(one, { text: null, at })).toEqual([{ text: null, again: null, at }]);
});

test('is prepared once per connection, under its name; nothing else is prepared', async () => {
  await networks(one, { family: 'solana', limit: 1 });
  await one.selectFrom('networks').select('id').execute();
  expect(await preparedNames(one)).toEqual(['test_echo', 'test_networks']);
});

test('is not prepared through a pooler', async () => {
  const pooled = openOne(true);
  expect(await networks(pooled, { family: 'solana', limit: 1 })).toEqual([{ id: 'sol' }]);
  expect(await preparedNames(pooled)).toEqual([]);
  await pooled.destroy();
});

test('runs in a transaction like any query', async () => {
  const work = one.transaction().execute(async tx => {
    await tx.updateTable('networks').set({ is_active: false }).where('id', '=', 'sol').execute();
    expect(await networks(tx, { family: 'solana', limit: 1 })).toEqual([{ id: 'sol-usdc' }]);
    throw new Error('undone');
  });
  await expect(work).rejects.toThrow('undone');
  expect(await networks(one, { family: 'solana', limit: 1 })).toEqual([{ id: 'sol' }]);
});

test('has a name of its own', () => {
  expect(() => prepare('test_echo', db => db.selectFrom('networks').select('id'))).toThrow(
    'test_echo',
  );
});

test('names its columns, so that a migration that adds one leaves it valid', async () => {
  expect(() => prepare('test_all', db => db.selectFrom('networks').selectAll())).toThrow('columns');
  await networks(one, { family: 'solana', limit: 1 });
  await sql`alter table networks add column added text`.execute(database.db);
  expect(await networks(one, { family: 'solana', limit: 1 })).toEqual([{ id: 'sol' }]);
});
