import type { Heads } from '../../chains/adapter.ts';
import type { ChainState } from '../../database/watching-tables.ts';
import type { Node } from '../../nodes/node.ts';
import { findRingEntry } from '../../repositories/chains/blocks.ts';
import type { Watcher } from '../watcher.ts';
import { halt } from './halt.ts';
import { IDLE_POLL_MS } from './idle-watch.ts';
import { reorganise } from './reorganise.ts';

/** What is done while the node's newest block is below the cursor. */
export interface LowHead {
  /**
   * A node that lags is waited for, and a branch that is still growing. After a while the chain is halted:
   * its networks must not be offered while nothing is scanned. It goes back to the last recorded block that
   * the node has once the node's newest block is younger than the block at the cursor: a lower block of the
   * same chain would be older, so the block at the cursor is of another chain.
   * @throws NodeFailure, LeaseLost.
   */
  meet(
    state: ChainState,
    node: Node,
    heads: Heads,
    signal: AbortSignal,
  ): Promise<'nothing' | 'halted' | 'more'>;
  /** To be called when the node's newest block is not below the cursor. */
  isOver(): void;
}

export function createLowHead(watcher: Watcher): LowHead {
  const { chain, clock, db } = watcher;
  const patienceMs = Math.min(chain.staleHeadMs, chain.offeredLagMs);
  /** Since when heads have been low without a break, when the latest was met, and under which lease. */
  let since: number | undefined;
  let metAt = 0;
  let epoch: number | undefined;

  /** What was met long ago, or before another worker had the chain, is not known to have gone on. */
  function note({ lease_epoch: own }: ChainState): number {
    const now = clock();
    const isBroken = own !== epoch || Math.abs(now - metAt) > patienceMs + IDLE_POLL_MS;
    since = isBroken ? now : (since ?? now);
    metAt = now;
    epoch = own;
    return since;
  }

  async function isOtherChain({ cursor_height: cursor }: ChainState, { tip }: Heads) {
    const recorded = cursor === null ? undefined : await findRingEntry(db, chain.id, cursor);
    if (recorded === undefined) return true;
    return tip.time.getTime() > recorded.at.getTime() + chain.clockSkewMs;
  }

  return {
    async meet(state, node, heads, signal) {
      const lowSince = note(state);
      const isHalted = state.halted !== null;
      if (!isHalted && Math.abs(clock() - lowSince) < patienceMs) return 'nothing';
      if (isHalted && (await isOtherChain(state, heads))) {
        return (await reorganise(watcher, node, state, signal)) ? 'more' : 'halted';
      }
      const { tip, finalHeight } = heads;
      await halt(
        watcher,
        node,
        state,
        `the newest block of ${node.label} is ${tip.height}, below ${state.cursor_height}, up to which the chain was read`,
        { head_height: tip.height, final_height: finalHeight },
      );
      return 'halted';
    },
    isOver() {
      since = undefined;
    },
  };
}
