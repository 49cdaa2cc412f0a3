/** Shortest pause before the same node repeats a tick that failed, in milliseconds. */
const RETRY_MS = 1_000;

/** How long a chain waits for its next tick. */
interface TickPace {
  /**
   * In milliseconds. A tick whose node failed is repeated at once if another primary node is available, else
   * after a second; but not before a node is available, nor later than usual.
   */
  readonly pauseMs: number;
  succeeded(): void;
  failed(): void;
}

/** @param intervalMs The usual pause. */
export function createTickPace(
  intervalMs: number,
  nodes: {
    /** Milliseconds until a primary node may be called. */
    pausedFor(): number;
  },
): TickPace {
  let failures = 0;
  return {
    get pauseMs() {
      if (failures === 0) return intervalMs;
      const remaining = nodes.pausedFor();
      // At once only after a first failure: a tick that fails at every node must not be repeated in a tight loop.
      if (failures === 1 && remaining === 0) return 0;
      return Math.min(intervalMs, Math.max(RETRY_MS, remaining));
    },
    succeeded() {
      failures = 0;
    },
    failed() {
      failures += 1;
    },
  };
}
