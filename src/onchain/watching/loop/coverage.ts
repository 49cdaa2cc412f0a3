import type { Heads } from '#chains/adapter.ts';
import type { Chain } from '#chains/chain-list.ts';
import type { Block } from '#chains/transfer.ts';

/**
 * Up to which time every transfer that a node has shown is recorded.
 * @param polledAt When the node was asked for its newest block; never later than that.
 * @param reached The last block that was read.
 */
export function coveredUntil(
  chain: Chain,
  heads: Pick<Heads, 'tip' | 'finalHeight'>,
  polledAt: Date,
  reached: Pick<Block, 'height' | 'time'>,
): Date {
  if (chain.coverage !== 'blocks') return polledAt;
  return new Date(Math.min(shownUntil(chain, heads, reached), polledAt.getTime()));
}

/**
 * Up to which time every transfer that either look has shown is recorded. Payments that ended by then may expire, if
 * the balances of their addresses are explained.
 * @param swept The last block that was read twice.
 */
export function sweptUntil(
  chain: Chain,
  heads: Pick<Heads, 'tip' | 'finalHeight'>,
  polledAt: Date,
  swept: Pick<Block, 'height' | 'time'>,
): Date {
  // A lagging server may not show newer transfers yet.
  const latest = polledAt.getTime() - chain.secondLookAfterMs;
  return new Date(Math.min(shownUntil(chain, heads, swept), latest));
}

/** In milliseconds since the epoch. */
function shownUntil(
  { staleHeadMs }: Chain,
  { tip, finalHeight }: Pick<Heads, 'tip' | 'finalHeight'>,
  { height, time }: Pick<Block, 'height' | 'time'>,
): number {
  // If the newest block is final, there is no newer one, unless the node has stalled.
  const isQuiet = height === tip.height && finalHeight === tip.height;
  return time.getTime() + (isQuiet ? staleHeadMs : 0);
}
