import type { BaseLogger } from 'pino';
import type { Connection } from '../database/connection.ts';
import { readDatabaseClock } from '../database/ping.ts';
import type { Clock } from '../time/clock.ts';

/**
 * Largest difference that is not reported, in seconds: clocks that are kept in time differ by
 * milliseconds.
 */
export const CLOCK_REPORTED_SECONDS = 2;
/**
 * Largest difference with which a process is ready, in seconds. Times of one payment come from several
 * processes: with clocks that far apart it is paid before it was created, or expires before its time.
 */
export const CLOCK_MAXIMUM_SECONDS = 30;
const CHECK_INTERVAL_MS = 10_000;

type Severity = 'fine' | 'off' | 'wrong';

/** Compares the clock of this process with that of the database, which all processes share. */
export interface ClockWatch {
  /**
   * How far the clock is ahead of the database's, in seconds; negative when it is behind. Reduced by the
   * uncertainty of the comparison. undefined before the first response of the database.
   */
  offsetSeconds(): number | undefined;
  /** Compares now, and logs when the difference begins or ceases to matter. */
  check(): Promise<void>;
  close(): void;
}

interface ClockWatchOptions {
  readonly db: Connection;
  readonly clock: Clock;
  readonly log: Pick<BaseLogger, 'info' | 'warn' | 'error'>;
}

/** Compares the clocks at once, and then every ten seconds. */
export async function watchClock(options: ClockWatchOptions): Promise<ClockWatch> {
  const { db, clock, log } = options;
  let offset: number | undefined;
  let reported: Severity = 'fine';
  let checking: Promise<void> | undefined;

  async function compare(): Promise<void> {
    offset = await compareClocks(db, clock);
    const severity = severityOf(offset);
    if (severity === reported) return;
    reported = severity;
    const line = { offsetSeconds: offset };
    if (severity === 'fine') log.info(line, 'the clock agrees with that of the database again');
    else if (severity === 'off') log.warn(line, 'the clock differs from that of the database');
    else log.error(line, 'the clock is too far from that of the database: not ready');
  }

  function check(): Promise<void> {
    // A database that does not respond is reported elsewhere.
    checking ??= compare()
      .catch(() => undefined)
      .finally(() => {
        checking = undefined;
      });
    return checking;
  }

  await check();
  const timer = setInterval(check, CHECK_INTERVAL_MS).unref();
  return { offsetSeconds: () => offset, check, close: () => clearInterval(timer) };
}

export function isClockUsable({ offsetSeconds }: ClockWatch): boolean {
  return severityOf(offsetSeconds() ?? 0) !== 'wrong';
}

function severityOf(offsetSeconds: number): Severity {
  const apart = Math.abs(offsetSeconds);
  if (apart > CLOCK_MAXIMUM_SECONDS) return 'wrong';
  return apart > CLOCK_REPORTED_SECONDS ? 'off' : 'fine';
}

/** The database read its clock at some time between query and response: half of that is uncertain. */
async function compareClocks(db: Connection, clock: Clock): Promise<number> {
  const askedAt = clock();
  const started = performance.now();
  const database = await readDatabaseClock(db);
  const uncertain = (performance.now() - started) / 2;
  const offset = askedAt + uncertain - database;
  return (Math.sign(offset) * Math.max(0, Math.abs(offset) - uncertain)) / 1000;
}
