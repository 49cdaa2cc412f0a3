import type { Heads } from '../chains/adapter.ts';
import type { ChainState } from '../database/watching-tables.ts';
import type { Node } from '../nodes/node.ts';
import { findRingEntry } from '../repositories/chain-blocks.ts';
import { halt } from './halt.ts';
import { reorganise } from './reorganise.ts';
import type { Watcher } from './watcher.ts';

/** What is done while the node's newest block is below the cursor. */
export interface LowHead {
  /**
   * A node that lags is waited for, and a branch that is still growing. After a while the chain is halted:
   * its networks must not be offered while nothing is scanned. It goes back to the last recorded block that
   * the node has once the node's newest is younger than the block at the cursor: as heights rise with time,
   * that one cannot be of the same chain.
   * @throws NodeFailure, LeaseLost.
   */
  meet(state: ChainState, node: Node, heads: Heads): Promise<'nothing' | 'halted' | 'more'>;
  /** To be called when the node's newest block is not below the cursor. */
  isOver(): void;
}

export function createLowHead(watcher: Watcher): LowHead {
  const { chain, clock, db } = watcher;
  const patienceMs = Math.min(chain.staleHeadMs, chain.offeredLagMs);
  let since: number | undefined;

  async function isOtherChain({ cursor_height: cursor }: ChainState, { tip }: Heads) {
    const recorded = cursor === null ? undefined : await findRingEntry(db, chain.id, cursor);
    if (recorded === undefined) return true;
    return tip.time.getTime() > recorded.at.getTime() + chain.clockSkewMs;
  }

  return {
    async meet(state, node, heads) {
      since ??= clock();
      const isHalted = state.halted !== null;
      if (!isHalted && Math.abs(clock() - since) < patienceMs) return 'nothing';
      if (isHalted && (await isOtherChain(state, heads))) {
        return (await reorganise(watcher, node, state)) ? 'more' : 'halted';
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
