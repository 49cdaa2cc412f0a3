import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { connect } from '../../src/database/connection.ts';
import { type ClockWatch, watchClock } from '../../src/telemetry/clock-watch.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { createMonitor } from '../../src/telemetry/monitor.ts';
import { createReadiness } from '../../src/telemetry/readiness.ts';
import { cloneDatabase, type TestDatabase } from '../helpers/database.ts';
import { parseExposition, sumOf } from './exposition.ts';

const NAME = 'eps_clock_offset_seconds';

let database: TestDatabase;
let watch: ClockWatch;
/** Ahead of the time, in seconds. */
let ahead = 0;
const clock = () => Date.now() + ahead * 1000;
const lines: { level: string; msg: string; offsetSeconds: number }[] = [];
const log = createLogger({ logLevel: 'info' }, 'test', {
  write: (line: string) => void lines.push(JSON.parse(line)),
});

beforeAll(async () => {
  database = await cloneDatabase();
  watch = await watchClock({ db: database.db, clock, log });
});
afterAll(async () => {
  watch.close();
  await database.drop();
});
beforeEach(() => {
  lines.length = 0;
});

/** Moves the clock, compares, and returns what is reported then. */
async function reportedAt(seconds: number) {
  ahead = seconds;
  await watch.check();
  const { db } = database;
  const monitor = createMonitor({
    readiness: createReadiness({ db, clockWatch: watch }),
    pools: {},
    clockWatch: watch,
  });
  const { ready, body } = await monitor.readiness();
  const metric = sumOf(parseExposition(await monitor.registry.metrics()), NAME);
  await monitor.close();
  return { ready, clock: body.clock, metric, levels: lines.map(({ level }) => level) };
}

test('a clock that agrees with the database is nothing to tell', async () => {
  expect(await reportedAt(0)).toMatchObject({ ready: true, clock: 'ok', levels: [] });
  expect(await reportedAt(1.5)).toMatchObject({ ready: true, clock: 'ok', levels: [] });
});

test.each([
  ['ahead', 1],
  ['behind', -1],
])('one that is %s is reported, and far away it is not ready', async (_where, sign) => {
  const off = await reportedAt(sign * 5);
  expect(off).toMatchObject({ ready: true, clock: 'ok', levels: ['warn'] });
  // Less by as long as the database took.
  expect(off.metric * sign).toBeGreaterThan(2);
  expect(off.metric * sign).toBeLessThan(5.1);
  // Once, not every ten seconds.
  expect(await reportedAt(sign * 6)).toMatchObject({ levels: ['warn'] });
  const wrong = await reportedAt(sign * 200);
  expect(wrong).toMatchObject({ ready: false, clock: 'wrong', levels: ['warn', 'error'] });
  expect(wrong.metric * sign).toBeGreaterThan(30);
  expect(wrong.metric * sign).toBeLessThan(200.1);
  expect(await reportedAt(0)).toMatchObject({ ready: true, levels: ['warn', 'error', 'info'] });
});

test('a difference that a slow answer may account for is none', async () => {
  ahead = 0;
  const db = connect({
    url: database.url,
    poolSize: 1,
    applicationName: 'test',
    onIdleError: () => undefined,
  });
  // The only connection is busy for half a second.
  const busy = sql`select pg_sleep(0.5)`.execute(db);
  const delayed = await watchClock({ db, clock, log });
  expect(Math.abs(delayed.offsetSeconds() ?? 1)).toBeLessThan(0.05);
  delayed.close();
  await busy;
  await db.destroy();
});

test('nothing is known while the database does not answer', async () => {
  const db = connect({
    url: 'postgres://127.0.0.1:1/none',
    poolSize: 1,
    applicationName: 'test',
    onIdleError: () => undefined,
  });
  const blind = await watchClock({ db, clock, log });
  expect(blind.offsetSeconds()).toBeUndefined();
  const monitor = createMonitor({
    readiness: createReadiness({ db: database.db, clockWatch: blind }),
    pools: {},
    clockWatch: blind,
  });
  expect(parseExposition(await monitor.registry.metrics()).get(NAME)?.samples).toEqual([]);
  expect((await monitor.readiness()).ready).toBe(true);
  await monitor.close();
  blind.close();
  await db.destroy();
});
