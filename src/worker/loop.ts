import { setTimeout as sleep } from 'node:timers/promises';
import type { BaseLogger } from 'pino';
import { loopFailures, loopSeconds, loopSuccess } from '../telemetry/counts.ts';

export interface Loop {
  readonly name: string;
  /** Pause between two runs, in milliseconds. */
  readonly intervalMs: number;
  /** Longest pause after failures, in milliseconds; a minute when left out. */
  readonly longestPauseMs?: number;
  /**
   * One run; it looks at the signal where it may take long.
   * @param beat To be called by a run that lasts, whenever it has done its work once more.
   */
  run(signal: AbortSignal, beat: () => void): Promise<void>;
}

const BACKOFF_MAXIMUM_MS = 60_000;

/** Waits for some milliseconds, or until the signal is aborted. */
export type Pause = (milliseconds: number, signal: AbortSignal) => Promise<void>;

const pauseInterruptibly: Pause = (milliseconds, signal) =>
  sleep(milliseconds, undefined, { signal }).catch(() => undefined);

/**
 * Runs a loop until the signal is aborted; resolves when the last run has ended. A failing run is
 * logged and tried again after a pause that doubles with every failure in a row.
 */
export async function runLoop(
  loop: Loop,
  logger: Pick<BaseLogger, 'error'>,
  signal: AbortSignal,
  pause: Pause = pauseInterruptibly,
): Promise<void> {
  let failures = 0;
  const beat = () => loopSuccess.set(Date.now() / 1000, loop.name);
  while (!signal.aborted) {
    const started = performance.now();
    try {
      await loop.run(signal, beat);
      failures = 0;
      beat();
    } catch (error) {
      if (signal.aborted) return;
      failures += 1;
      loopFailures.add(loop.name);
      logger.error({ err: error, loop: loop.name, failures }, 'loop failed');
    }
    loopSeconds.observe((performance.now() - started) / 1000, loop.name);
    const longestMs = loop.longestPauseMs ?? BACKOFF_MAXIMUM_MS;
    const backoffMs = Math.min(loop.intervalMs * 2 ** failures, longestMs);
    await pause(Math.max(backoffMs, loop.intervalMs), signal);
  }
}
