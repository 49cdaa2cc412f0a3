import pino from 'pino';
import { expect, test } from 'vitest';
import { ReadsRefused, WritesRefused } from '#storage/database/errors.ts';
import { idlePause, type Loop, type Pause, runLoop } from '#worker/loop.ts';

function collectLog() {
  const lines: Record<string, unknown>[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  return { logger, lines };
}

/**
 * Runs a loop without waiting: runs are numbered, pauses are recorded, and the loop is told to stop after a
 * number of pauses.
 */
async function runFor(pauses: number, intervalMs: number, run: (index: number) => Promise<void>) {
  const controller = new AbortController();
  const log = collectLog();
  const waited: number[] = [];
  const pause: Pause = async milliseconds => {
    waited.push(milliseconds);
    if (waited.length === pauses) controller.abort();
  };
  let index = 0;
  const loop: Loop = { name: 'test', intervalMs, run: () => run(index++) };
  await runLoop(loop, log.logger, controller.signal, { pause });
  return { runs: index, waited, logged: log.lines };
}

test('runs repeatedly, an interval apart', async () => {
  const { runs, waited, logged } = await runFor(3, 30_000, async () => undefined);
  expect(runs).toBe(3);
  expect(waited).toEqual([30_000, 30_000, 30_000]);
  expect(logged).toEqual([]);
});

test('backs off while it fails, and returns to its interval once it works', async () => {
  const failing = new Set([1, 2, 3, 5]);
  const { runs, waited, logged } = await runFor(7, 1_000, async index => {
    if (failing.has(index)) throw new Error(`run ${index}`);
  });
  expect(runs).toBe(7);
  expect(waited).toEqual([1_000, 2_000, 4_000, 8_000, 1_000, 2_000, 1_000]);
  expect(logged).toMatchObject(
    [1, 2, 3, 1].map((failures, index) => ({
      err: { message: `run ${[...failing][index]}` },
      loop: 'test',
      failures,
    })),
  );
});

test('measures the clock before each run, and does not run while writes are refused', async () => {
  const reasons = ['it is wrong', 'it is wrong', null, null];
  const happened: string[] = [];
  const controller = new AbortController();
  const log = collectLog();
  const loop: Loop = {
    name: 'test',
    intervalMs: 1,
    run: async () => void happened.push('run'),
  };
  await runLoop(loop, log.logger, controller.signal, {
    databaseClock: {
      async measure() {
        happened.push('measured');
        if (happened.length > 3) throw new Error('the database is away');
      },
      reason: () => reasons.shift() ?? null,
    },
    pause: async () => {
      if (reasons.length === 0) controller.abort();
    },
  });
  expect(happened.join()).toBe('measured,measured,measured,run,measured,run');
  expect(log.lines).toEqual([]);
});

test('backs off silently while writes are refused, which is logged elsewhere', async () => {
  const refused = new WritesRefused('the database was restored');
  const unread = new ReadsRefused('no standby has it');
  const failures = [unread, new AggregateError([refused, unread]), refused];
  const { waited, logged } = await runFor(3, 1_000, async index => {
    throw failures[index];
  });
  expect(waited).toEqual([2_000, 4_000, 8_000]);
  expect(logged).toEqual([]);
  const mixed = await runFor(1, 1_000, async () => {
    throw new AggregateError([refused, new Error('another')]);
  });
  expect(mixed.logged).toHaveLength(1);
});

test('never waits more than a minute, unless that is its interval', async () => {
  const fail = async () => Promise.reject(new Error('no'));
  const short = await runFor(2_000, 1_000, fail);
  expect(Math.max(...short.waited)).toBe(60_000);
  const long = await runFor(3, 300_000, fail);
  expect(long.waited).toEqual([300_000, 300_000, 300_000]);
});

test('a loop that throws synchronously fails like any other', async () => {
  const { logged } = await runFor(2, 1_000, () => {
    throw new Error('at once');
  });
  expect(logged).toHaveLength(2);
});

test('stops in the middle of a pause', async () => {
  const controller = new AbortController();
  let runs = 0;
  const loop: Loop = {
    name: 'test',
    intervalMs: 1_000_000,
    async run() {
      runs += 1;
      setImmediate(() => controller.abort());
    },
  };
  await runLoop(loop, collectLog().logger, controller.signal);
  expect(runs).toBe(1);
});

test('lets the current run end, and does not report its failure', async () => {
  const controller = new AbortController();
  const log = collectLog();
  let ended = false;
  const loop: Loop = {
    name: 'test',
    intervalMs: 1_000_000,
    async run(signal) {
      controller.abort();
      await new Promise(setImmediate);
      ended = signal.aborted;
      throw new Error('interrupted');
    },
  };
  await runLoop(loop, log.logger, controller.signal);
  expect(ended).toBe(true);
  expect(log.lines).toEqual([]);
});

test('does not run at all when it is already stopped', async () => {
  const loop: Loop = { name: 'test', intervalMs: 1, run: () => Promise.reject(new Error('ran')) };
  const log = collectLog();
  await runLoop(loop, log.logger, AbortSignal.abort());
  expect(log.lines).toEqual([]);
});

test('a heartbeat ends the back-off of a run that never returns', async () => {
  const controller = new AbortController();
  const waited: number[] = [];
  const pause: Pause = async milliseconds => {
    waited.push(milliseconds);
    if (waited.length === 5) controller.abort();
  };
  const loop: Loop = {
    name: 'test',
    intervalMs: 1_000,
    run(_, beat) {
      if (waited.length === 3) beat();
      return Promise.reject(new Error('lost'));
    },
  };
  await runLoop(loop, collectLog().logger, controller.signal, { pause });
  expect(waited).toEqual([2_000, 4_000, 8_000, 2_000, 4_000]);
});

test('finishes what is in progress after the last run, even if that failed', async () => {
  const controller = new AbortController();
  let ended = 0;
  const loop: Loop = {
    name: 'test',
    intervalMs: 1,
    run() {
      controller.abort();
      return Promise.reject(new Error('interrupted'));
    },
    end: async () => void ended++,
  };
  await runLoop(loop, collectLog().logger, controller.signal);
  expect(ended).toBe(1);
});

test('runs less often once there was nothing to do for ten seconds', () => {
  let now = 0;
  const pause = idlePause(200, 1_000, () => now);
  now = 9_999;
  expect(pause.ms).toBe(200);
  now = 10_000;
  expect(pause.ms).toBe(1_000);
  pause.worked();
  expect(pause.ms).toBe(200);
  now = 20_000;
  expect(pause.ms).toBe(1_000);
});
