import type { LastPoll } from './occurred-at.ts';

/** Number of polls to keep: one comes every few seconds, and what it showed is final within 15 s. */
const KEPT = 1_000;

/** When a node was asked for its newest block, and that block's height. */
interface Poll {
  readonly height: number;
  readonly at: Date;
}

/** Tracks up to which time all transfers that polls have shown are final (Solana). Part of the tick. */
export class FinalPolls {
  #polls: Poll[] = [];

  /** Adds the last poll whose blocks were read up to the newest one. */
  add({ head_height: height, polled_at: at }: LastPoll): void {
    if (height === null || at === null || this.#polls.at(-1)?.at.getTime() === at.getTime()) return;
    this.#polls = [...this.#polls.slice(1 - KEPT), { height, at }];
  }

  /**
   * @param finalHeight The final block now.
   * @param by Only polls made at this time or before count.
   * @returns The last poll whose newest block is final now; undefined if none is known.
   */
  find(finalHeight: number | null, by: Date): Poll | undefined {
    return this.#polls.findLast(({ height, at }) => height <= (finalHeight ?? -1) && at <= by);
  }
}
