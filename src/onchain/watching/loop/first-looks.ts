import type { Block } from '#chains/transfer.ts';
import type { ChainState } from '#storage/database/watching-tables.ts';

/** The end of a range that was scanned. */
interface FirstLook extends Pick<Block, 'height' | 'hash'> {
  /** When, in milliseconds since the epoch. */
  readonly at: number;
}

/**
 * Number of scans to keep. The oldest are dropped first: later ones replace them, so that the second look only comes
 * later.
 */
const KEPT = 1_000;

/**
 * Records when ranges were scanned. The second look at them comes some time later, since a lagging server shows less
 * without an error. After a start, everything counts as scanned just now.
 */
export class FirstLooks {
  #looks: FirstLook[] = [];

  /**
   * Begins a tick: drops scans that were undone since. What another worker scanned counts as scanned now.
   * @param now In milliseconds since the epoch.
   */
  begin(
    { cursor_height: height, cursor_hash: hash }: Pick<ChainState, 'cursor_height' | 'cursor_hash'>,
    now: number,
  ): void {
    this.#looks = this.#looks.filter(look => look.height <= (height ?? -1));
    if (height === null || hash === null) return;
    if (this.#looks.at(-1)?.hash !== hash) this.add({ height, hash }, now);
  }

  /** Adds a range that ends at a block. */
  add({ height, hash }: Pick<Block, 'height' | 'hash'>, at: number): void {
    const before = this.#looks.filter(look => look.height < height);
    this.#looks = [...before.slice(1 - KEPT), { height, hash, at }];
  }

  /** The newest range that was scanned by the time `by`, in milliseconds since the epoch; undefined if there is none. */
  find(by: number): FirstLook | undefined {
    const found = this.#looks.findLastIndex(({ at }) => at <= by);
    this.#looks = this.#looks.slice(Math.max(0, found));
    return found < 0 ? undefined : this.#looks[0];
  }
}
