import type { Clock } from '../time/clock.ts';
import { endOfDay, utcDay } from '../time/days.ts';

/**
 * Pause between two looks once the quota is used up, in milliseconds: transfers are seen, and payments end,
 * within minutes, and a provider that bills what is beyond the quota bills some hundred looks a day.
 */
export const SPENT_PAUSE_MS = 5 * 60_000;
/** Share of what is left that looks at a chain without open payments may take until the day ends. */
export const SPARED_SHARE = 0.25;
/** Looks that the average of their calls is taken over. */
const AVERAGED = 10;

/** What is left of a quota. */
export interface Left {
  readonly calls: number;
  /** Milliseconds until the day ends, in UTC, when the calls are counted anew. */
  readonly ms: number;
}

/** The pauses between two looks at a chain, in milliseconds. */
export interface Pauses {
  /** The chain's own, while calls do not matter. */
  readonly ownMs: number;
  /** With a longer one its networks are not offered. */
  readonly longestMs: number;
}

/**
 * A look that a watcher is about to take: at `open` payments, at addresses where whatever comes is `late`, or
 * at the newest block alone, where nothing is watched.
 */
export interface Look extends Pauses {
  readonly kind: 'open' | 'late' | 'idle';
}

/**
 * The pause with which what is left of a quota lasts until the day ends. A quota that is too small even for
 * the longest pause is used at that pace, so that networks are offered for as long as it lasts; once it is
 * used up, the pause is `SPENT_PAUSE_MS`.
 * @param callsPerLook What a look costs.
 * @returns Milliseconds; never less than the chain's own pause.
 */
export function stretchedPause(
  left: Left,
  callsPerLook: number,
  { kind, ownMs, longestMs }: Look,
): number {
  const calls = left.calls * (kind === 'open' ? 1 : SPARED_SHARE);
  const looks = Math.floor(calls / callsPerLook);
  if (looks < 1) return Math.max(ownMs, SPENT_PAUSE_MS);
  return Math.max(ownMs, Math.min(left.ms / looks, longestMs));
}

/** The calls of a node that all processes have made on a day. */
export interface CallsOfDay {
  /** In UTC, YYYY-MM-DD. */
  readonly day: string;
  readonly calls: number;
}

/** How the calls of one node are spent, as one process knows it. */
export interface DailyQuota {
  /**
   * Whether it is time for a look, as far as the quota goes.
   * @param longestMs Longest pause that it may ask for, in milliseconds; any unless given.
   */
  isDue(look: Look, longestMs?: number): boolean;
  /** Begins a look: what is asked from now on is what it costs. */
  begin(look: Look): void;
  /** Whether the quota is used up. */
  isSpent(): boolean;
  /** Calls that are not written down yet. */
  unwritten(): number;
  /** Tells that so many calls are written down, and what all processes have made with them. */
  wrote(calls: number, total: CallsOfDay): void;
}

interface DailyQuotaOptions {
  /** null without a quota. */
  readonly perDay: number | null;
  /** Calls that this process has made so far. */
  readonly made: () => number;
  readonly clock: Clock;
}

export function createDailyQuota({ perDay, made, clock }: DailyQuotaOptions): DailyQuota {
  let written = 0;
  let total: CallsOfDay | undefined;
  let current: { readonly kind: Look['kind']; readonly from: number } | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;
  const averages = new Map<Look['kind'], number>();

  function left(quota: number): Left {
    const now = clock();
    const day = utcDay(new Date(now));
    const used = (total?.day === day ? total.calls : 0) + made() - written;
    return { calls: Math.max(0, quota - used), ms: endOfDay(day).getTime() - now };
  }

  function endLook(): void {
    if (current === undefined) return;
    const calls = made() - current.from;
    const average = averages.get(current.kind) ?? calls;
    averages.set(current.kind, average + (calls - average) / AVERAGED);
  }

  return {
    isDue(look, longestMs = Number.POSITIVE_INFINITY) {
      if (perDay === null) return true;
      const callsPerLook = Math.max(1, averages.get(look.kind) ?? 1);
      const pauseMs = Math.min(stretchedPause(left(perDay), callsPerLook, look), longestMs);
      return pauseMs <= look.ownMs || Math.abs(clock() - lookedAt) >= pauseMs;
    },
    begin({ kind }) {
      endLook();
      current = { kind, from: made() };
      lookedAt = clock();
    },
    isSpent: () => perDay !== null && left(perDay).calls === 0,
    unwritten: () => made() - written,
    wrote(calls, now) {
      written += calls;
      total = now;
    },
  };
}
