import type { Chain } from '#chains/chain-list.ts';
import type { ChainTransfer } from '#chains/transfer.ts';
import type { ChainState } from '#storage/database/watching-tables.ts';
import type { TimeOfTransfer } from '../../settlement/match-payment.ts';

/** Longest time between two polls, in milliseconds, for which transfers count as made when they are seen. */
export const POLLED_LATELY_MS = 60_000;

/** How far the clock of a node may be behind or ahead, in milliseconds. */
const NODE_SKEW_MS = 60_000;

/** When a chain was last read up to its newest block, and that block's height. */
export type LastPoll = Pick<ChainState, 'polled_at' | 'head_height'>;

/** For blocks that are scanned again: no poll dates their transfers. */
export const NO_POLL: LastPoll = { polled_at: null, head_height: null };

/**
 * When a transfer was made, for matching.
 *
 * While the chain is polled regularly, that is now: block clocks lag, and a payment must not seem older than its own
 * reservation. A poll far in the future does not count: it was dated by a wrong clock.
 *
 * If the last poll already showed the height of the transfer's block, it left the transfer out, or the block has
 * replaced another one since. Then, as after a longer time without a poll, the time of the block counts, plus the
 * most that its clock may lag. A payment that reserved the amount only after that was not paid by it. If the node's
 * mempool had the transfer earlier, that time counts.
 */
export function occurredAt(
  chain: Chain,
  { block, enteredAt }: Pick<ChainTransfer, 'block' | 'enteredAt'>,
  last: LastPoll,
  now: Date,
): TimeOfTransfer {
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
): TimeOfTransfer {
  const byNow = (time: number) => new Date(Math.min(now.getTime(), time));
  const wasShown = block !== null && head !== null && block.height <= head;
  if (polledAt !== null && wasPolledLately(polledAt, now) && !wasShown) {
    return { occurredAt: now, earliestAt: now };
  }
  // In the mempool it has no time: it may have come right after the last poll.
  if (block === null) {
    return { occurredAt: now, earliestAt: byNow(polledAt?.getTime() ?? now.getTime() - skew) };
  }
  const blockTime = block.time.getTime();
  return { occurredAt: byNow(blockTime + skew), earliestAt: byNow(blockTime - skew) };
}

/** Whether the chain was read up to its newest block so recently that new transfers count as made since then. */
function wasPolledLately(polledAt: Date, now: Date): boolean {
  return Math.abs(now.getTime() - polledAt.getTime()) <= POLLED_LATELY_MS;
}

/** Whether `wasPolledLately` holds for a poll, or will hold once its time has come, even if blocks are left to read. */
export function mayCountAsLately(polledAt: Date | null, now: Date): boolean {
  return polledAt !== null && now.getTime() - polledAt.getTime() <= POLLED_LATELY_MS;
}
