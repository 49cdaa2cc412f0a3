import type { Chain } from '../../chains/chain-list.ts';
import type { ChainTransfer } from '../../chains/transfer.ts';
import type { ChainState } from '../../database/watching-tables.ts';
import type { ObservedTransfer } from '../../settlement/observed-transfer.ts';

/** Longest time between two polls, in milliseconds, during which a transfer counts as made when it is seen. */
export const POLLED_LATELY_MS = 60_000;

/** How far the clock of a node may be behind or ahead, in milliseconds. */
const NODE_SKEW_MS = 60_000;

/** How far a chain had been read when it was last read up to its newest block. */
export type LastPoll = Pick<ChainState, 'polled_at' | 'head_height'>;

/** When a transfer was made at the latest, which matching goes by, and at the earliest. */
export type Happened = Pick<Required<ObservedTransfer>, 'occurredAt' | 'earliestAt'>;

/** For what is scanned a second time, when a poll says nothing. */
export const NO_POLL: LastPoll = { polled_at: null, head_height: null };

/**
 * When a transfer was made, as far as matching is concerned. While the chain is polled regularly it is
 * now: clocks of blocks lag, and a payment must not look older than its own reservation. A block at a height
 * that the last poll showed already was made before that poll, unless its time says that it has replaced
 * another one since. For what is found later, the block tells, with the most that its clock may lag: whoever
 * got the amount since then has not been paid. Where a node tells since when it had the transfer in its
 * mempool, it was made by then.
 */
export function occurredAt(
  chain: Chain,
  { block, enteredAt }: Pick<ChainTransfer, 'block' | 'enteredAt'>,
  last: LastPoll,
  now: Date,
): Happened {
  const happened = whenFound(chain, block, last, now);
  if (enteredAt === undefined) return happened;
  const byThen = (time: Date, skew: number) =>
    new Date(Math.min(time.getTime(), enteredAt.getTime() + skew));
  return {
    occurredAt: byThen(happened.occurredAt, NODE_SKEW_MS),
    earliestAt: byThen(happened.earliestAt, -NODE_SKEW_MS),
  };
}

function whenFound(
  { clockSkewMs: skew }: Chain,
  block: ChainTransfer['block'],
  { polled_at: polledAt, head_height: head }: LastPoll,
  now: Date,
): Happened {
  if (wasPolledLately(polledAt, now)) {
    if (block === null || head === null || block.height > head) {
      return { occurredAt: now, earliestAt: now };
    }
    const latest = Math.max(polledAt.getTime(), block.time.getTime() + skew);
    return { occurredAt: new Date(Math.min(now.getTime(), latest)), earliestAt: polledAt };
  }
  // A mempool does not tell when: it may have been right after the last poll.
  if (block === null) {
    return { occurredAt: now, earliestAt: polledAt ?? new Date(now.getTime() - skew) };
  }
  const blockTime = block.time.getTime();
  return {
    occurredAt: new Date(Math.min(now.getTime(), blockTime + skew)),
    earliestAt: new Date(Math.min(now.getTime(), blockTime - skew)),
  };
}

/** Whether the chain was read up to its newest block so lately that what is new was made since then. */
export function wasPolledLately(polledAt: Date | null, now: Date): polledAt is Date {
  return polledAt !== null && now.getTime() - polledAt.getTime() <= POLLED_LATELY_MS;
}
