import type { Clock } from '#time/clock.ts';

/** Pause after a first strike, doubled with each further one in a row up to the longest, in milliseconds. */
export const STRIKE_PAUSE_MS = 1_000;
export const STRIKE_PAUSE_MAXIMUM_MS = 60_000;
/**
 * Longest pause of a node that lags, in milliseconds. It is short since another server behind its URL may respond
 * the next time, and new blocks come every few seconds.
 */
export const LAG_PAUSE_MAXIMUM_MS = 4_000;
/** Lags in a row after which the node itself counts as behind, not just one of its servers. */
const LAGS_MAXIMUM = 10;
/** Share of a pause that is random, so that processes do not come back at once. */
const JITTER = 0.25;

/**
 * When a node may be asked again after wrong responses. These pauses are separate from those after failed
 * requests, which end with the next good response: a node may give as many good responses as wrong ones.
 */
interface Strikes {
  /** Milliseconds until the node may be asked; 0 if it may be now. */
  remaining(): number;
  /** A response was wrong. */
  strike(): void;
  /** The server that responded lags. That is no strike, and the pause is short. */
  lag(): void;
  /** Every call for one purpose has succeeded: strikes and lags count from 0 again. */
  succeeded(): void;
}

export function createStrikes(clock: Clock, random: () => number = Math.random): Strikes {
  let strikes = 0;
  let lags = 0;
  let at = 0;
  let pauseMs = 0;

  function pause(inRow: number, longestMs: number): void {
    at = clock();
    pauseMs = Math.ceil(
      Math.min(STRIKE_PAUSE_MS * 2 ** inRow, longestMs) * (1 - JITTER * random()),
    );
  }

  return {
    // The absolute difference: a clock that is set back must not prolong the pause.
    remaining: () => Math.max(0, pauseMs - Math.abs(clock() - at)),
    strike() {
      pause(strikes, STRIKE_PAUSE_MAXIMUM_MS);
      strikes += 1;
    },
    lag() {
      pause(lags, lags < LAGS_MAXIMUM ? LAG_PAUSE_MAXIMUM_MS : STRIKE_PAUSE_MAXIMUM_MS);
      lags += 1;
    },
    succeeded() {
      strikes = 0;
      lags = 0;
      pauseMs = 0;
    },
  };
}
