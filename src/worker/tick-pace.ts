/** Shortest pause before a tick that failed is made again by the same node, in milliseconds. */
const RETRY_MS = 1_000;

/** How long a chain waits for its next tick. */
export interface TickPace {
  /**
   * In milliseconds. A tick whose node failed is made again at once where another primary node can be asked, else
   * after a second; in any case not before a node can be asked, nor later than usual.
   */
  readonly pauseMs: number;
  succeeded(): void;
  failed(): void;
}

/** @param intervalMs The usual pause. */
export function createTickPace(
  intervalMs: number,
  nodes: {
    /** Milliseconds until a primary node may be asked. */
    pausedFor(): number;
  },
): TickPace {
  let failures = 0;
  return {
    get pauseMs() {
      if (failures === 0) return intervalMs;
      const remaining = nodes.pausedFor();
      // At once only one time: what fails at every node is not tried faster and faster.
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
