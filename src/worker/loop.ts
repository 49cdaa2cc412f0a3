import { setTimeout as sleep } from 'node:timers/promises';
import type { BaseLogger } from 'pino';
import { Counter, Gauge, Histogram } from 'prom-client';
import { ReadsRefused, WritesRefused } from '#storage/database/errors.ts';
import type { DatabaseClock } from '#time/database-clock.ts';

/** From an idle run to one that works off an outage, in seconds. */
const DURATION_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

const loopSuccess = new Gauge({
  name: 'eps_worker_loop_last_success_timestamp_seconds',
  help: 'When a loop of the worker last did its work, in Unix time',
  labelNames: ['loop'],
});
const loopFailures = new Counter({
  name: 'eps_worker_loop_failures_total',
  help: 'Runs of a loop that failed',
  labelNames: ['loop'],
});
const loopSeconds = new Histogram({
  name: 'eps_worker_loop_duration_seconds',
  help: 'Time that a run of a loop took',
  labelNames: ['loop'],
  buckets: DURATION_BUCKETS,
});

export interface Loop {
  readonly name: string;
  /** Pause between two runs, in milliseconds; it may differ from run to run. */
  readonly intervalMs: number;
  /** Maximum pause after failures, in milliseconds; a minute by default. */
  readonly maximumPauseMs?: number;
  /**
   * One run. A long run stops early when the signal is aborted.
   * @param beat Records a success, which also ends the back-off after failures; long runs call it
   * whenever they make progress.
   */
  run(signal: AbortSignal, beat: () => void): Promise<void>;
  /** Called after the last run, to finish what runs have left in progress. */
  end?(): Promise<void>;
}

const BACKOFF_MAXIMUM_MS = 60_000;
/** How long a loop must have had nothing to do before it polls less often, in milliseconds. */
const IDLE_AFTER_MS = 10_000;

/** The pause of a loop that polls less often while there is nothing to do, in milliseconds. */
export function idlePause(busyMs: number, idleMs: number, now = () => performance.now()) {
  let workedAt = now();
  return {
    /** Call it whenever a run has found something to do. */
    worked() {
      workedAt = now();
    },
    get ms(): number {
      return now() - workedAt < IDLE_AFTER_MS ? busyMs : idleMs;
    },
  };
}

/** Resolves after the time, or as soon as the signal is aborted. */
export type Pause = (milliseconds: number, signal: AbortSignal) => Promise<void>;

const abortablePause: Pause = (milliseconds, signal) =>
  sleep(milliseconds, undefined, { signal }).catch(() => undefined);

interface LoopOptions {
  /** Measured before each run; the run is skipped while the clock refuses writes. */
  readonly databaseClock?: Pick<DatabaseClock, 'measure' | 'reason'> | undefined;
  readonly pause?: Pause;
}

/**
 * Runs a loop until the signal is aborted; resolves when the last run has ended. Logs failed runs;
 * the pause doubles with every consecutive failure.
 */
export async function runLoop(
  loop: Loop,
  logger: Pick<BaseLogger, 'error'>,
  signal: AbortSignal,
  { databaseClock, pause = abortablePause }: LoopOptions = {},
): Promise<void> {
  let failures = 0;
  const beat = () => {
    failures = 0;
    loopSuccess.set({ loop: loop.name }, Date.now() / 1000);
  };
  while (!signal.aborted) {
    const started = performance.now();
    try {
      if (databaseClock !== undefined) await requireClock(databaseClock);
      await loop.run(signal, beat);
      beat();
    } catch (error) {
      if (signal.aborted) break;
      failures += 1;
      loopFailures.inc({ loop: loop.name });
      // Whatever refuses writes logs that itself, once.
      if (!isRefusal(error)) {
        logger.error({ err: error, loop: loop.name, failures }, 'loop failed');
      }
    }
    loopSeconds.observe({ loop: loop.name }, (performance.now() - started) / 1000);
    const maximumMs = loop.maximumPauseMs ?? BACKOFF_MAXIMUM_MS;
    const backoffMs = Math.min(loop.intervalMs * 2 ** failures, maximumMs);
    await pause(Math.max(backoffMs, loop.intervalMs), signal);
  }
  // A loop that ended because its chain lost its last node must not look stalled.
  loopSuccess.remove({ loop: loop.name });
  await loop.end?.();
}

/** @throws WritesRefused */
async function requireClock(clock: Pick<DatabaseClock, 'measure' | 'reason'>): Promise<void> {
  // If the database does not respond, the run itself fails, or goes on with the last measurement.
  await clock.measure().catch(() => undefined);
  const reason = clock.reason();
  if (reason !== null) throw new WritesRefused(reason);
}

/** Whether the only failure is that writes, or reads as well, are refused. */
function isRefusal(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.every(isRefusal);
  return error instanceof WritesRefused || error instanceof ReadsRefused;
}
