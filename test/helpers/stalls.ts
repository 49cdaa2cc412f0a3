/** How often to look whether this process runs, in milliseconds. */
const TICK_MS = 50;

export interface StallWatch {
  /** Milliseconds on a monotonic clock, which stands still during a stall. */
  now(): number;
  stop(): void;
}

/**
 * Begins to watch for stalls: times in which this process, and so most likely the machine, ran nothing. What is
 * measured by its clock has a limit of its own, however long the machine stops meanwhile.
 */
export function watchStalls(): StallWatch {
  let tickedAt = performance.now();
  let lost = 0;
  /** How much too late the tick is that is due; one in time comes within two intervals. */
  const late = () => Math.max(0, performance.now() - tickedAt - 2 * TICK_MS);
  const timer = setInterval(() => {
    lost += late();
    tickedAt = performance.now();
  }, TICK_MS).unref();
  return { now: () => performance.now() - lost - late(), stop: () => clearInterval(timer) };
}
