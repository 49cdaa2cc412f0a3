import { setTimeout as sleep } from 'node:timers/promises';
import type { BaseLogger } from 'pino';
import type { Clock } from './clock.ts';

/**
 * Largest difference between the machine's clock and the database's that is not reported, in seconds: synchronized
 * clocks differ by milliseconds.
 */
export const CLOCK_REPORTED_SECONDS = 2;
/**
 * Largest difference at which a process still writes, in seconds. IDs and log lines have the machine's time, and a
 * process cannot tell which of two clocks that far apart is wrong.
 */
export const CLOCK_MAXIMUM_SECONDS = 30;

/** How often the database is asked for its time, in milliseconds. */
const MEASURE_MS = 1_000;
/** How long the timer carries its last answer on, in milliseconds: it drifts by some milliseconds in that time. */
const CARRIED_MS = 60_000;
/**
 * How far the machine's clock and its timer may drift apart between two answers, in milliseconds. More means that the
 * clock was set, or that the machine was suspended, while the timer stood still.
 */
const JUMP_MS = 2_000;
/** Longest that an answer may take, in milliseconds: nobody knows when in between the database read its clock. */
const ANSWER_MS = 4_000;

export type ClockState = 'ok' | 'wrong' | 'unavailable';
type Severity = 'fine' | 'off' | 'wrong';

/**
 * The database's clock, by which all processes go: its last answer, carried on by a monotonic timer, which is not
 * affected when the machine's clock is set.
 */
export interface DatabaseClock {
  /** The machine's clock before the first answer. */
  readonly now: Clock;
  /** Asks the database for its time; logs when the difference of the machine's clock begins or ceases to matter. */
  measure(): Promise<void>;
  /**
   * How far the machine's clock is ahead of the database's, in seconds; negative when it is behind. Reduced by the
   * uncertainty of the comparison. undefined before the first answer.
   */
  offsetSeconds(): number | undefined;
  /** Why nothing may be written by this clock; null while writing is allowed. */
  reason(): string | null;
  /** 'wrong' while the machine's clock is too far away, 'unavailable' while the database's is not known well enough. */
  state(): ClockState;
  /** Measures, and goes on measuring each second until `close`. */
  start(): Promise<void>;
  close(): Promise<void>;
}

interface DatabaseClockOptions {
  /** Asks the database for its time, in milliseconds since the epoch. */
  readonly ask: () => Promise<number>;
  readonly log: Pick<BaseLogger, 'info' | 'warn' | 'error'> | null;
  /** The machine's clock, which may be wrong and may jump. */
  readonly wall?: Clock;
  /** Milliseconds since any time; never jumps, and stands still while the machine is suspended. */
  readonly monotonic?: () => number;
}

/** The last answer; all times in milliseconds. */
interface Measured {
  /** When it came, by the timer. */
  readonly at: number;
  /** By how much the database's clock was ahead of the timer. */
  readonly ahead: number;
  /** How far `ahead` may be wrong: half the time that the answer took. */
  readonly uncertain: number;
  /** By how much the machine's clock was ahead of the timer. */
  readonly wallAhead: number;
}

interface Checked {
  readonly state: ClockState;
  readonly reason: string | null;
}

const FINE: Checked = { state: 'ok', reason: null };

export function createDatabaseClock(options: DatabaseClockOptions): DatabaseClock {
  const { ask, log, wall = Date.now, monotonic = () => performance.now() } = options;
  const closing = new AbortController();
  let last: Measured | undefined;
  let reported: Severity = 'fine';
  let measuring: Promise<void> | undefined;
  let keeping: Promise<void> = Promise.resolve();

  const wallAhead = () => wall() - monotonic();

  async function compare(): Promise<void> {
    const before = wallAhead();
    const askedAt = monotonic();
    const time = await ask();
    const at = monotonic();
    const after = wallAhead();
    // If the clocks drifted apart meanwhile, it is not known how long the answer took.
    if (at - askedAt > ANSWER_MS || isApart(after, before)) return;
    const uncertain = (at - askedAt) / 2;
    const middle = time - at + uncertain;
    // Only an answer that contradicts the one before moves the clock, so that it does not jitter.
    const ahead = within(last?.ahead ?? middle, middle - uncertain, middle + uncertain);
    last = { at, ahead, uncertain, wallAhead: after };
    report(offsetOf(last, after));
  }

  function report(offset: number): void {
    const severity = severityOf(offset);
    if (severity === reported) return;
    reported = severity;
    const line = { offsetSeconds: offset };
    if (severity === 'fine') log?.info(line, 'the clock agrees with that of the database again');
    else if (severity === 'off') log?.warn(line, 'the clock differs from that of the database');
    else log?.error(line, 'the clock is too far from that of the database: nothing is written');
  }

  function measure(): Promise<void> {
    measuring ??= compare().finally(() => {
      measuring = undefined;
    });
    return measuring;
  }

  /** Runs before each statement, so that it looks at each clock once. */
  function check(): Checked {
    if (last === undefined) {
      return { state: 'unavailable', reason: 'the database has not told its time yet' };
    }
    const at = monotonic();
    const wallNow = wall() - at;
    if (at - last.at > CARRIED_MS) {
      return { state: 'unavailable', reason: 'the database has not told its time for a minute' };
    }
    // Compares twice: the process may have been interrupted between reading the two clocks.
    if (isApart(wallNow, last.wallAhead) && isApart(wallAhead(), last.wallAhead)) {
      measure().catch(() => undefined);
      const reason =
        'the clock of this machine has jumped, or the machine was suspended: the database is asked for its time';
      return { state: 'unavailable', reason };
    }
    const offset = offsetOf(last, wallNow);
    if (severityOf(offset) !== 'wrong') return FINE;
    const where = offset > 0 ? 'ahead of' : 'behind';
    const seconds = Math.round(Math.abs(offset));
    return {
      state: 'wrong',
      reason: `the clock of this machine is ${seconds} s ${where} the database's: set it right`,
    };
  }

  async function keepMeasuring(): Promise<void> {
    const pause = () =>
      sleep(MEASURE_MS, true, { signal: closing.signal, ref: false }).catch(() => false);
    // A database that does not answer is reported elsewhere.
    while (await pause()) await measure().catch(() => undefined);
  }

  return {
    now: () => Math.floor(last === undefined ? wall() : last.ahead + monotonic()),
    measure,
    offsetSeconds: () => (last === undefined ? undefined : offsetOf(last, wallAhead())),
    reason: () => check().reason,
    state: () => check().state,
    async start() {
      await measure();
      keeping = keepMeasuring();
    },
    async close() {
      closing.abort();
      await keeping;
    },
  };
}

/** In seconds. */
function offsetOf({ ahead, uncertain }: Measured, wallAhead: number): number {
  const offset = wallAhead - ahead;
  const apart = Math.max(0, Math.abs(offset) - uncertain);
  return (Math.sign(offset) * apart) / 1000;
}

function within(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}

function isApart(wallAhead: number, before: number): boolean {
  return Math.abs(wallAhead - before) > JUMP_MS;
}

function severityOf(offsetSeconds: number): Severity {
  const apart = Math.abs(offsetSeconds);
  if (apart > CLOCK_MAXIMUM_SECONDS) return 'wrong';
  return apart > CLOCK_REPORTED_SECONDS ? 'off' : 'fine';
}
