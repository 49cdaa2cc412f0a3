import type { Heads } from '../../chains/adapter.ts';
import type { Chain } from '../../chains/chain-list.ts';
import type { Block } from '../../chains/transfer.ts';

/**
 * Up to which time every transfer is recorded.
 * @param polledAt When the node was asked for its newest block; never later than that.
 * @param reached The last block that was read, or read twice on chains whose nodes may lag without notice.
 */
export function coveredUntil(
  chain: Chain,
  { tip, finalHeight }: Pick<Heads, 'tip' | 'finalHeight'>,
  polledAt: Date,
  reached: Pick<Block, 'height' | 'time'>,
): Date {
  if (chain.coverage === 'poll' || chain.coverage === 'final-poll') return polledAt;
  // If the newest block is final, no other one has come since, as long as the node does not stand still.
  const isQuiet = reached.height === tip.height && finalHeight === tip.height;
  const time = reached.time.getTime() + (isQuiet ? chain.staleHeadMs : 0);
  return new Date(Math.min(time, polledAt.getTime()));
}
