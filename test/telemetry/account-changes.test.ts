import pg from 'pg';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createPostgresNonces } from '#signing/postgres-nonces.ts';
import { type ChangeFeed, LEASE_MS, openChangeFeed } from '#storage/database/change-feed.ts';
import { registerApiGauges } from '#telemetry/state-gauges.ts';
import { cloneDatabase, type TestDatabase } from '../helpers/database.ts';
import { SOON } from '../helpers/soon.ts';
import { startTcpProxy, type TcpProxy } from '../helpers/tcp-proxy.ts';
import { parseExposition, sumOf } from './exposition.ts';

let database: TestDatabase;
let proxy: TcpProxy;
let changes: ChangeFeed;
/** How far the feed's clock is ahead, in milliseconds. */
let later = 0;
const registry = new Registry();
const queries = vi.spyOn(pg.Client.prototype, 'query');

beforeAll(async () => {
  database = await cloneDatabase();
  const target = new URL(database.url);
  proxy = await startTcpProxy(target.hostname, Number(target.port));
  target.host = `127.0.0.1:${proxy.port}`;
  changes = openChangeFeed({
    url: target.href,
    applicationName: 'test-scraped-feed',
    onError: () => undefined,
    now: () => performance.now() + later,
  });
  await vi.waitUntil(() => changes.isCurrent(), SOON);
  registerApiGauges(registry, { nonces: createPostgresNonces(database.db), changes });
});
afterAll(async () => {
  queries.mockRestore();
  await changes.close();
  await proxy.cut();
  await database.drop();
});

const heard = async () =>
  sumOf(parseExposition(await registry.metrics()), 'eps_account_changes_heard');

test('an idle replica reports at nearly each scrape that it receives changes', async () => {
  // A renewal that is in flight when the clock jumps has the time before the jump.
  const isQuiet = () => queries.mock.settledResults.every(({ type }) => type !== 'incomplete');
  // Steps shorter than a connection may be silent; after ten seconds the feed is idle.
  let misses = 0;
  for (let seconds = 0; seconds < 45; seconds += 3) {
    await vi.waitUntil(isQuiet, SOON);
    later += 3_000;
    if ((await heard()) === 0) misses += 1;
  }
  // Of fifteen; a busy machine may take longer than a lease. Without a renewal at the scrape all would miss.
  expect(misses).toBeLessThan(3);
});

test('a replica whose connection went silent reports that it receives nothing', async () => {
  proxy.freeze();
  later += LEASE_MS;
  expect(await heard()).toBe(0);
});
