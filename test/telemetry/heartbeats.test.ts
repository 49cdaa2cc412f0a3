import { register } from 'prom-client';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Loop, runLoop } from '#worker/loop.ts';
import { cloneDatabase, type TestDatabase } from '../helpers/database.ts';
import { stall, startReceiver } from '../payments/webhooks/receiver.ts';
import { startWorker } from '../payments/webhooks/running-worker.ts';
import { openShop } from '../payments/webhooks/shop.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await cloneDatabase();
});
afterAll(() => database.drop());

const quiet = { error: () => undefined };

const SUCCESS = 'eps_worker_loop_last_success_timestamp_seconds';
const FAILURES = 'eps_worker_loop_failures_total';
const RUNS = 'eps_worker_loop_duration_seconds_count';

/** Samples of a loop by name, without a histogram's buckets. */
async function readOf(loop: string): Promise<Record<string, number>> {
  const text = await register.metrics();
  const lines = text.matchAll(/^(\w+)\{loop="([^"]+)"\} (\S+)$/gm);
  const own = [...lines].filter(([, , name]) => name === loop);
  return Object.fromEntries(own.map(([, name = '', , value]) => [name, Number(value)]));
}

/** Runs a loop for some rounds, without pauses; returns its samples after the last one. */
async function runRounds(name: string, rounds: number, run: Loop['run']) {
  const controller = new AbortController();
  let left = rounds;
  let samples: Record<string, number> = {};
  const pause = async () => {
    left -= 1;
    samples = await readOf(name);
    if (left === 0) controller.abort();
  };
  await runLoop({ name, intervalMs: 1, run }, quiet, controller.signal, { pause });
  return samples;
}

test('a successful round is a heartbeat, a failed one is counted', async () => {
  const before = Date.now() / 1000;
  const failed = await runRounds('fails', 3, () => Promise.reject(new Error('no')));
  expect(failed).toMatchObject({ [FAILURES]: 3, [RUNS]: 3 });
  expect(failed).not.toHaveProperty(SUCCESS);

  const worked = await runRounds('works', 2, () => Promise.resolve());
  expect(worked[SUCCESS]).toBeGreaterThanOrEqual(before);
  expect(worked[SUCCESS]).toBeLessThanOrEqual(Date.now() / 1000);
  expect(worked[RUNS]).toBe(2);
  expect(worked).not.toHaveProperty(FAILURES);
});

test('a loop that has ended has no heartbeat, so that no alert fires for it', async () => {
  await runRounds('ends', 1, () => Promise.resolve());
  const ended = await readOf('ends');
  expect(ended).toMatchObject({ [RUNS]: 1 });
  expect(ended).not.toHaveProperty(SUCCESS);
});

test('webhooks send heartbeats while an attempt prolongs their run', async () => {
  const [shop, receiver] = await Promise.all([openShop(database), startReceiver(stall)]);
  await shop.addEndpoint(receiver.url);
  await shop.tell();
  const read = async (name: string) => (await readOf('deliver-webhooks'))[name] ?? 0;
  const soon = { timeout: 10_000 };
  const worker = startWorker(shop);
  await receiver.received(1);
  const runs = await read(RUNS);
  const first = await read(SUCCESS);
  await vi.waitFor(async () => expect(await read(SUCCESS)).toBeGreaterThan(first), soon);
  expect(await read(RUNS)).toBe(runs);
  await receiver.close();
  await worker.stop();
});
