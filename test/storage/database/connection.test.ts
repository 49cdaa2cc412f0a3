import { sql } from 'kysely';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { connect, poolUse } from '#storage/database/connection.ts';
import { isDatabaseUnavailable } from '#storage/database/errors.ts';
import {
  afterCommit,
  inSavepoint,
  transact,
  UncertainCommit,
} from '#storage/database/transaction.ts';
import { cloneDatabase, type TestDatabase } from '../../helpers/database.ts';
import { SOON } from '../../helpers/soon.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await cloneDatabase();
});
afterAll(() => database.drop());

const networks = async () =>
  (await database.db.selectFrom('networks').select('id').execute()).length;

test('a connection that breaks while idle is logged, without its client object', async () => {
  const errors: Error[] = [];
  const db = connect({
    url: database.url,
    poolSize: 1,
    applicationName: 'idle',
    onIdleError: error => errors.push(error),
  });
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db);
  await sql`select pg_terminate_backend(${rows[0]?.pid}::int, 5000)`.execute(database.db);
  await vi.waitFor(() => expect(errors).toHaveLength(1), SOON);
  expect(errors[0]).not.toHaveProperty('client');
  expect((await sql`select 1`.execute(db)).rows).toHaveLength(1);
  await db.destroy();
});

test('idle connections stay for half an hour', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const db = connect({
    url: database.url,
    poolSize: 3,
    applicationName: 'staying',
    onIdleError: () => undefined,
  });
  onTestFinished(() => db.destroy());
  await Promise.all([1, 2, 3, 4].map(() => sql`select pg_sleep(0.05)`.execute(db)));
  await vi.advanceTimersByTimeAsync(29 * 60 * 1000);
  expect(poolUse(db)).toEqual({ limit: 3, busy: 0, idle: 3, waiting: 0 });
  await vi.advanceTimersByTimeAsync(2 * 60 * 1000);
  expect(poolUse(db)).toEqual({ limit: 3, busy: 0, idle: 0, waiting: 0 });
  expect((await sql`select 1`.execute(db)).rows).toHaveLength(1);
});

// An error event without a listener would end the process, which vitest reports as a failure.
test('a connection that breaks while in use fails its query, and the pool goes on', async () => {
  const end = sql`select pg_terminate_backend(pg_backend_pid())`;
  const failure = await end.execute(database.db).catch(error => error);
  expect(isDatabaseUnavailable(failure)).toBe(true);
  // The pool may hand the connection out once more before it learns that it has ended.
  await vi.waitFor(async () => expect(await networks()).toBe(24), SOON);
});

test('a connection that breaks between the statements of a transaction fails the next', async () => {
  const failure = await transact(database.db, async tx => {
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx);
    await sql`select pg_terminate_backend(${rows[0]?.pid}::int, 5000)`.execute(database.db);
    return tx.selectFrom('networks').select('id').execute();
  }).catch(error => error);
  expect(isDatabaseUnavailable(failure)).toBe(true);
  expect(failure).not.toBeInstanceOf(UncertainCommit);
  expect(await networks()).toBe(24);
});

test('a connection that breaks before the commit leaves the outcome uncertain', async () => {
  const failure = await transact(database.db, async tx => {
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx);
    await sql`select pg_terminate_backend(${rows[0]?.pid}::int, 5000)`.execute(database.db);
  }).catch(error => error);
  expect(failure).toBeInstanceOf(UncertainCommit);
  expect(isDatabaseUnavailable(failure)).toBe(false);
});

test('a statement that times out counts as unavailability', async () => {
  const failure = await transact(database.db, async tx => {
    await sql`set local statement_timeout = '10ms'`.execute(tx);
    await sql`select pg_sleep(10)`.execute(tx);
  }).catch(error => error);
  expect(isDatabaseUnavailable(failure)).toBe(true);
});

test('a savepoint rolls back what failed within it and nothing else', async () => {
  const rename = (id: string, name: string) =>
    database.db.updateTable('networks').set({ name }).where('id', '=', id).compile();
  const result = await transact(database.db, async tx => {
    await tx.executeQuery(rename('btc', 'kept'));
    return inSavepoint(
      tx,
      async () => {
        await tx.executeQuery(rename('eth', 'undone'));
        await sql`select 1 / 0`.execute(tx);
        return 'unreachable';
      },
      error => (error as Error).message,
    );
  });
  expect(result).toBe('division by zero');
  const rows = await database.db
    .selectFrom('networks')
    .select('name')
    .where('id', 'in', ['btc', 'eth'])
    .orderBy('position')
    .execute();
  expect(rows.map(({ name }) => name)).toEqual(['kept', 'Ethereum Mainnet']);
});

test('callbacks for a commit run after it, in order, and never without it', async () => {
  const happened: string[] = [];
  const happens = (what: string) => () => void happened.push(what);
  await transact(database.db, async tx => {
    afterCommit(tx, happens('first'));
    const undone = async () => {
      afterCommit(tx, happens('undone with its savepoint'));
      await sql`select 1 / 0`.execute(tx);
    };
    await inSavepoint(tx, undone, () => undefined);
    await inSavepoint(
      tx,
      async () => afterCommit(tx, happens('second')),
      () => undefined,
    );
    expect(happened).toEqual([]);
  });
  expect(happened).toEqual(['first', 'second']);

  const rolledBack = transact(database.db, async tx => {
    afterCommit(tx, happens('rolled back'));
    await sql`select 1 / 0`.execute(tx);
  });
  await expect(rolledBack).rejects.toThrow('division by zero');
  const uncertain = transact(database.db, async tx => {
    afterCommit(tx, happens('uncertain'));
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx);
    await sql`select pg_terminate_backend(${rows[0]?.pid}::int, 5000)`.execute(database.db);
  });
  await expect(uncertain).rejects.toThrow(UncertainCommit);
  afterCommit(database.db, happens('at once, without a transaction'));
  expect(happened).toEqual(['first', 'second', 'at once, without a transaction']);
});

test('integers above 2^53 are refused instead of rounded', async () => {
  const read = (text: string) =>
    sql<{ value: number }>`select ${text}::bigint as value`.execute(database.db);
  expect((await read('9007199254740991')).rows[0]?.value).toBe(Number.MAX_SAFE_INTEGER);
  await expect(read('9007199254740993')).rejects.toThrow(RangeError);
  expect(await networks()).toBe(24);
});
