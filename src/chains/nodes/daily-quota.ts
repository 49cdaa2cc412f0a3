import type { Clock } from '#time/clock.ts';
import { endOfDay, utcDay } from '#time/days.ts';

/**
 * Pause between two looks once the quota is used up, in milliseconds. Transfers are still seen, and payments
 * still end, within minutes; a provider that bills calls beyond the quota bills a few hundred looks a day.
 */
export const SPENT_PAUSE_MS = 5 * 60_000;
/** Share of the remaining calls that looks without an open payment may use until the day ends. */
export const SPARED_SHARE = 0.25;
/** Over how many looks the number of calls is averaged. */
const AVERAGED = 10;

/** What is left of a quota. */
export interface Left {
  readonly calls: number;
  /** Milliseconds until the UTC day ends, when the count starts again from 0. */
  readonly ms: number;
}

/** The pauses between two looks at a chain, in milliseconds. */
export interface Pauses {
  /** The chain's own pause, which applies while enough calls are left. */
  readonly ownMs: number;
  /** The longest pause with which the chain's networks are still offered. */
  readonly longestMs: number;
}

/**
 * A look that a watcher is about to take: `open` while payments wait, `late` where only late transfers can
 * arrive, `idle` where nothing is watched and only the newest block is read.
 */
export interface Look extends Pauses {
  readonly kind: 'open' | 'late' | 'idle';
}

/**
 * The pause with which the remaining calls last until the day ends, but never more than `longestMs`: if the calls
 * cannot last, networks are still offered until the quota is used up. Then the pause is `SPENT_PAUSE_MS`.
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
interface CallsOfDay {
  /** In UTC, YYYY-MM-DD. */
  readonly day: string;
  readonly calls: number;
}

/** The daily quota of one node, as one process knows it. */
export interface DailyQuota {
  /**
   * Whether it is time for a look, as far as the quota goes.
   * @param longestMs Longest pause that it may ask for, in milliseconds; any unless given.
   */
  isDue(look: Look, longestMs?: number): boolean;
  /** Begins a look: the calls from now on are what it costs. */
  begin(look: Look): void;
  /** Whether the quota is used up. */
  isSpent(): boolean;
  /** Calls that are not in the database yet. */
  unwritten(): number;
  /** To be called when calls were written to the database; `total` has those of all processes. */
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
