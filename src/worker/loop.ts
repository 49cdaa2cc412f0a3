import { setTimeout as sleep } from 'node:timers/promises';
import type { BaseLogger } from 'pino';

export interface Loop {
  readonly name: string;
  /** Pause between two runs, in milliseconds. */
  readonly intervalMs: number;
  /** Longest pause after failures, in milliseconds; a minute when left out. */
  readonly longestPauseMs?: number;
  /** One run; it looks at the signal where it may take long. */
  run(signal: AbortSignal): Promise<void>;
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
  while (!signal.aborted) {
    try {
      await loop.run(signal);
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      failures += 1;
      logger.error({ err: error, loop: loop.name, failures }, 'loop failed');
    }
    const longestMs = loop.longestPauseMs ?? BACKOFF_MAXIMUM_MS;
    const backoffMs = Math.min(loop.intervalMs * 2 ** failures, longestMs);
    await pause(Math.max(backoffMs, loop.intervalMs), signal);
  }
}
