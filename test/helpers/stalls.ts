/** How often to check that this process runs, in milliseconds. */
const TICK_MS = 50;

interface StallWatch {
  /** Milliseconds on a monotonic clock that stands still during a stall. */
  now(): number;
  stop(): void;
}

/**
 * Starts to watch for stalls: times in which this process, and so most likely the machine, ran nothing. Limits on
 * what its clock measures hold, however long the machine stalls meanwhile.
 */
export function watchStalls(): StallWatch {
  let tickedAt = performance.now();
  let lost = 0;
  /** How late the current tick is; a punctual one comes within two intervals. */
  const late = () => Math.max(0, performance.now() - tickedAt - 2 * TICK_MS);
  const timer = setInterval(() => {
    lost += late();
    tickedAt = performance.now();
  }, TICK_MS).unref();
  return { now: () => performance.now() - lost - late(), stop: () => clearInterval(timer) };
}
