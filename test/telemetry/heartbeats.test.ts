import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { loopFailures, loopSeconds, loopSuccess } from '../../src/telemetry/counts.ts';
import type { Instrument } from '../../src/telemetry/instruments.ts';
import { type Loop, runLoop } from '../../src/worker/loop.ts';
import { cloneDatabase, type TestDatabase } from '../helpers/database.ts';
import { startWorker } from '../webhooks/running-worker.ts';
import { openShop } from '../webhooks/shop.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await cloneDatabase();
});
afterAll(() => database.drop());

const quiet = { error: () => undefined };

/** What an instrument has of a loop, by the end of its name. */
function readOf(instrument: Instrument, loop: string): Record<string, number> {
  const own = instrument.samples().filter(({ labels }) => labels.loop === loop && !labels.le);
  return Object.fromEntries(own.map(({ suffix, value }) => [suffix, value]));
}

/** Runs a loop for some rounds, without pauses. */
async function runRounds(name: string, rounds: number, run: Loop['run']): Promise<void> {
  const controller = new AbortController();
  let left = rounds;
  const pause = async () => {
    left -= 1;
    if (left === 0) controller.abort();
  };
  await runLoop({ name, intervalMs: 1, run }, quiet, controller.signal, pause);
}

test('a round that works is a heartbeat, one that fails is counted', async () => {
  const before = Date.now() / 1000;
  await runRounds('fails', 3, () => Promise.reject(new Error('no')));
  expect(readOf(loopSuccess, 'fails')).toEqual({});
  expect(readOf(loopFailures, 'fails')).toEqual({ '': 3 });
  expect(readOf(loopSeconds, 'fails')).toMatchObject({ _count: 3 });

  await runRounds('works', 2, () => Promise.resolve());
  expect(readOf(loopSuccess, 'works')['']).toBeGreaterThanOrEqual(before);
  expect(readOf(loopSuccess, 'works')['']).toBeLessThanOrEqual(Date.now() / 1000);
  expect(readOf(loopFailures, 'works')).toEqual({});
  expect(readOf(loopSeconds, 'works')).toMatchObject({ _count: 2 });
});

test('the job queue beats while its one round lasts', async () => {
  const shop = await openShop(database);
  const worker = startWorker(shop);
  await vi.waitFor(() => expect(readOf(loopSuccess, 'deliver-webhooks')).toHaveProperty(''), {
    timeout: 10_000,
  });
  const first = readOf(loopSuccess, 'deliver-webhooks')[''] ?? 0;
  await vi.waitFor(
    () => expect(readOf(loopSuccess, 'deliver-webhooks')['']).toBeGreaterThan(first),
    { timeout: 10_000 },
  );
  expect(readOf(loopSeconds, 'deliver-webhooks')).toEqual({});
  await worker.stop();
});
