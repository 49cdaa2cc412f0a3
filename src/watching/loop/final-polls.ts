import { listEndingAddresses } from '../../repositories/chains/watch-list.ts';
import type { Watcher } from '../watcher.ts';
import type { LastPoll } from './occurred-at.ts';

/** Polls that are remembered: one comes every few seconds, and what it showed is final within 15 s. */
const KEPT = 1_000;
/** Most ends of payments that one look reads: more than there are within seconds. */
const ENDING_MAXIMUM = 1_000;

/**
 * Up to which time all transfers that polls have shown are final (Solana). A lagging node may leave confirmed
 * transfers out, so payments end only after a last look at the final ones. A part of the tick.
 */
export class FinalPolls {
  #polls: { readonly height: number; readonly at: Date }[] = [];
  #until: Date | null = null;

  /** Up to when unpaid payments may end; null if the last look at their addresses was not complete. */
  get until(): Date | null {
    return this.#until;
  }

  /** To be called when the last look at the addresses was not complete. */
  hold(): void {
    this.#until = null;
  }

  /** To be called when addresses whose payments end at this time or later have not had their last look yet. */
  endBefore(time: Date): void {
    if (this.#until !== null && this.#until >= time) this.#until = new Date(time.getTime() - 1);
  }

  /**
   * Begins a look.
   * @param last The last poll whose blocks were read up to the newest one.
   * @param finalHeight The final block now.
   * @param now When the look begins. Nothing is known of polls to come, which were made by a wrong clock.
   * @returns The time of the last poll whose newest block is final now; null if none is known.
   */
  reach(
    { head_height: height, polled_at: at }: LastPoll,
    finalHeight: number | null,
    now: Date,
  ): Date | null {
    while ((this.#polls.at(-1)?.at ?? now) > now) this.#polls.pop();
    const isPast = height !== null && at !== null && at <= now;
    if (isPast && this.#polls.at(-1)?.at.getTime() !== at.getTime()) {
      this.#polls = [...this.#polls.slice(1 - KEPT), { height, at }];
    }
    const reached = this.#polls.findLastIndex(poll => poll.height <= (finalHeight ?? -1));
    this.#polls = this.#polls.slice(Math.max(0, reached));
    this.#until = reached < 0 ? null : (this.#polls[0]?.at ?? null);
    return this.#until;
  }
}

/** Addresses at which the last look is due, by what `polls` have reached; later ones wait where there are many. */
export async function listEnding(
  { chain, db }: Pick<Watcher, 'chain' | 'db'>,
  polls: FinalPolls,
): Promise<readonly string[]> {
  const { until } = polls;
  if (chain.coverage !== 'final-poll' || until === null) return [];
  const ending = await listEndingAddresses(db, chain.id, until, ENDING_MAXIMUM);
  const last = ending.at(-1);
  if (ending.length === ENDING_MAXIMUM && last !== undefined) polls.endBefore(last.ends_at);
  return [...new Set(ending.map(({ address }) => address))];
}
