import type { Heads } from '#chains/adapter.ts';
import type { Node } from '#chains/nodes/node.ts';
import type { ChainBlock, ChainState } from '#storage/database/watching-tables.ts';
import { findRingEntry } from '#storage/repositories/chains/blocks.ts';
import type { Watcher } from '../watcher.ts';
import { askAnother, haltUndecided, setAside } from './another-node.ts';
import { halt } from './halt.ts';
import { IDLE_POLL_MS } from './idle-watch.ts';
import { reorganise } from './reorganise.ts';

/** Handles a node whose newest block is below the cursor. */
interface LowHead {
  /**
   * Waits at first: the node may lag, or be on a branch that is still growing. After a while it asks another node,
   * and may set this one aside. Otherwise it halts the chain: its networks must not be offered while nothing is
   * scanned. Unless another node has the block at the cursor, it goes back to the last recorded block that the node
   * has, once the node's newest block is younger than the block at the cursor: a lower block of the same chain would
   * be older, so the block at the cursor is of another chain.
   * @throws NodeFailure, also if the node is set aside; LeaseLost.
   */
  handle(
    state: ChainState,
    node: Node,
    heads: Heads,
    signal: AbortSignal,
  ): Promise<'nothing' | 'halted' | 'more'>;
  /** To be called when the newest block of this node is not below the cursor. */
  reset(nodeId: string): void;
  /** Whether the last head was low. */
  isMet(): boolean;
}

export function createLowHead(watcher: Watcher): LowHead {
  const { chain, clock, db } = watcher;
  const patienceMs = Math.min(chain.staleHeadMs, chain.offeredLagMs);
  /** Since when heads have been low without a break, when the last low one was seen, and under which lease. */
  let since: number | undefined;
  let seenAt = 0;
  let epoch: number | undefined;
  /** Nodes that were found to be behind another one, while their heads are low: there is no second wait for them. */
  const overtaken = new Set<string>();

  /**
   * Notes a low head, and returns since when heads are low. A low head of long ago, or from before another worker had
   * the chain, may have ended meanwhile: then the time starts again.
   */
  function note({ lease_epoch: own }: ChainState): number {
    const now = clock();
    const isBroken = own !== epoch || Math.abs(now - seenAt) > patienceMs + IDLE_POLL_MS;
    since = isBroken ? now : (since ?? now);
    seenAt = now;
    epoch = own;
    return since;
  }

  function isOtherChain(recorded: ChainBlock | undefined, { tip }: Heads): boolean {
    if (recorded === undefined) return true;
    return tip.time.getTime() > recorded.at.getTime() + chain.clockSkewMs;
  }

  return {
    async handle(state, node, heads, signal) {
      const lowSince = note(state);
      const isHalted = state.halted !== null;
      const isPatient = Math.abs(clock() - lowSince) < patienceMs && !overtaken.has(node.id);
      if (!isHalted && isPatient) return 'nothing';
      const { cursor_height: cursor } = state;
      const recorded =
        cursor === null ? undefined : await findRingEntry(db, { chain: chain.id, height: cursor });
      const text = `the newest block of ${node.label}, ${heads.tip.height}, is below the recorded ones`;
      const claim = { node, recorded, text, tip: heads.tip };
      const verdict = await askAnother(watcher, claim, signal);
      if (verdict?.isWrong) {
        overtaken.add(node.id);
        return setAside(watcher, node, verdict.reason);
      }
      if (verdict !== undefined) {
        await haltUndecided(watcher, node, state, verdict.reason);
        return 'halted';
      }
      if (isHalted && isOtherChain(recorded, heads)) {
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
    reset(nodeId) {
      since = undefined;
      overtaken.delete(nodeId);
    },
    isMet: () => since !== undefined,
  };
}
