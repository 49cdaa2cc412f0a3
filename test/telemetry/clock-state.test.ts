import { afterAll, beforeAll, expect, test } from 'vitest';
import { readDatabaseClock } from '#storage/database/ping.ts';
import { createMonitor } from '#telemetry/monitor.ts';
import { createReadiness } from '#telemetry/readiness.ts';
import { createDatabaseClock, type DatabaseClock } from '#time/database-clock.ts';
import { cloneDatabase, type TestDatabase } from '../helpers/database.ts';
import { parseExposition } from './exposition.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await cloneDatabase();
});
afterAll(() => database.drop());

function createClock(ask: () => Promise<number>, aheadMs: number): DatabaseClock {
  return createDatabaseClock({ ask, log: null, wall: () => Date.now() + aheadMs });
}

/** What readiness and metrics report about a clock. */
async function toldOf(databaseClock: DatabaseClock) {
  const { db } = database;
  const monitor = createMonitor({
    readiness: createReadiness({ db, databaseClock }),
    pools: {},
    databaseClock,
  });
  const { ready, body } = await monitor.readiness();
  const metrics = parseExposition(await monitor.registry.metrics());
  await monitor.close();
  const offsets = metrics.get('eps_clock_offset_seconds')?.samples.map(({ value }) => value);
  return { ready, clock: body.clock, offsets };
}

test.each([
  ['agrees', 0, true, 'ok'],
  ['is somewhat ahead', 5_000, true, 'ok'],
  ['is somewhat behind', -5_000, true, 'ok'],
  ['is far ahead', 600_000, false, 'wrong'],
  ['is far behind', -600_000, false, 'wrong'],
])('a clock that %s', async (_, aheadMs, ready, clock) => {
  const databaseClock = createClock(() => readDatabaseClock(database.db), aheadMs);
  await databaseClock.measure();
  const told = await toldOf(databaseClock);
  expect(told).toMatchObject({ ready, clock });
  // Less by the duration of the query.
  expect(Math.abs((told.offsets?.[0] ?? 0) - aheadMs / 1000)).toBeLessThan(2);
});

test('one that the database has not reported on', async () => {
  const databaseClock = createClock(() => Promise.reject(new Error('away')), 0);
  await expect(databaseClock.start()).rejects.toThrow('away');
  expect(await toldOf(databaseClock)).toEqual({ ready: false, clock: 'unavailable', offsets: [] });
});
