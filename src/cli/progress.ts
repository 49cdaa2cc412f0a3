import type { Clock } from '#time/clock.ts';
import { cell } from './print.ts';
import type { Terminal } from './terminal.ts';

/** Nothing is shown of what ends sooner, in milliseconds. */
const SHOWN_AFTER_MS = 500;
/** Shortest time between two rewrites of the line, in milliseconds. */
const REWRITTEN_AFTER_MS = 200;
/** How often the time is brought up to date while nothing else happens, in milliseconds. */
const TICK_MS = 1_000;

/**
 * Tells how far long work is.
 * @param done How much of it is done; less than before where other work begins.
 * @param total How much there is, if that is known.
 * @param doing What is done now, if that has a name.
 */
export type Report = (done: number, total?: number, doing?: string) => void;

/**
 * Shows how far work is, on one line of standard error that is rewritten, and gone at the end. Where standard error is no
 * terminal, nothing is written.
 * @param title What the line begins with.
 * @param clock Milliseconds since the epoch.
 */
export async function withProgress<T>(
  { progressWidth: width, err }: Terminal,
  title: string,
  work: (report: Report) => Promise<T>,
  clock: Clock = Date.now,
): Promise<T> {
  if (width === undefined) return work(() => undefined);
  let begun = clock();
  let [shown, shownAt] = ['', begun + SHOWN_AFTER_MS - REWRITTEN_AFTER_MS];
  let known: Parameters<Report> | undefined;
  const rewrite = (line: string) => {
    // Blanks cover what is left of a longer line; the last column is left free, since some terminals would break there.
    const text = cell(line).slice(0, width - 1);
    err(`\r${text.padEnd(shown.length)}${line === '' ? '\r' : ''}`);
    shown = text;
  };
  const show = () => {
    const now = clock();
    if (now - shownAt < REWRITTEN_AFTER_MS) return;
    shownAt = now;
    rewrite(`${title}: ${describe(now - begun, known)}`);
  };
  const timer = setInterval(show, TICK_MS);
  try {
    return await work((...report) => {
      // What follows takes its own time.
      if (known !== undefined && report[0] < known[0]) begun = clock();
      known = report;
      show();
    });
  } finally {
    clearInterval(timer);
    if (shown !== '') rewrite('');
  }
}

function describe(
  elapsedMs: number,
  [done, total, doing]: Partial<Parameters<Report>> = [],
): string {
  const isEstimated = done !== undefined && done > 0 && total !== undefined;
  return [
    ...(doing === undefined ? [] : [doing]),
    ...(done === undefined ? [] : [total === undefined ? `${done}` : `${done} of ${total}`]),
    isEstimated ? `${durationOf((elapsedMs / done) * (total - done))} left` : durationOf(elapsedMs),
  ].join(', ');
}

function durationOf(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
