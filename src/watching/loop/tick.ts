import type { ChainState } from '../../database/watching-tables.ts';
import { failureOf, type Node } from '../../nodes/node.ts';
import { findChain, updateChain } from '../../repositories/chains/chains.ts';
import type { Watcher } from '../watcher.ts';
import { findContradiction } from './another-node.ts';
import { createBlockWatch } from './block-watch.ts';
import { halt } from './halt.ts';
import { createIdleWatch, IDLE_POLL_MS, lookAt, wasPolled } from './idle-watch.ts';
import { createLowHead } from './low-head.ts';
import { createMempool } from './mempool.ts';
import { createPeriod } from './period.ts';
import { readHeads } from './read-heads.ts';
import { meetAnotherHash } from './reorganise.ts';
import { createRescans } from './rescan.ts';
import type { Round } from './round.ts';

/** Ticks after a failed one that a daily quota is not asked for. */
const RETRIES = 3;

/** What came of a tick. */
export type TickResult =
  /** Another worker watches the chain. */
  | 'elsewhere'
  /** Nothing is written before the node has a recorded block again, or an operator resumes the chain. */
  | 'halted'
  /** Nothing is watched, or the node's newest block is below the cursor. */
  | 'nothing'
  /** Read up to the newest block. */
  | 'done'
  /** There is more: go on at once. */
  | 'more';

export type Tick = (signal: AbortSignal) => Promise<TickResult>;

/**
 * One round of a watcher: asks one node for what is new and records it. Nothing depends on the round
 * before but what is in the database, so a worker that is killed repeats at most one.
 *
 * The bound comes first: the newest block, then the watch list, then the scan up to that block. So an
 * address that is not on the list cannot have been paid yet.
 * @throws NodeFailure, LeaseLost, and errors of the database.
 */
export function createTick(watcher: Watcher): Tick {
  const { chain, clock, db, lease, nodes } = watcher;
  const lowHead = createLowHead(watcher);
  const parts = { mempool: createMempool(watcher), rescans: createRescans(watcher) };
  const idleWatch = createIdleWatch(watcher, parts);
  const blockWatch = createBlockWatch(watcher, parts);
  const haltedPolls = createPeriod(clock, IDLE_POLL_MS);
  /** Whether the look before has not come to its end. */
  let hasMore = false;
  /** Ticks in a row whose node has failed. */
  let failures = 0;
  /** Whether the next look is part of the one before, which a daily quota has allowed for. */
  const goesOn = () => hasMore || (failures > 0 && failures <= RETRIES);

  return async signal => {
    if (!(await lease.hold())) return 'elsewhere';
    using _kept = lease.keep();
    const state = await findChain(db, chain.id);
    if (state === undefined) return 'halted';
    const isHalted = state.halted !== null;
    if (isHalted && !haltedPolls.isDue()) return 'halted';
    await nodes.refresh();
    const isIdle = !isHalted && (await watcher.watchList.read(db, new Date(clock()))).length === 0;
    if (!goesOn() && isIdle && wasPolled(state, clock())) return 'nothing';
    const kind = isIdle ? 'idle' : isHalted || watcher.watchList.isOpen() ? 'open' : 'late';
    if (!goesOn() && !nodes.mayLook(lookAt(chain, kind))) return 'nothing';

    failures += 1;
    haltedPolls.start();
    const node = await nodes.primary(signal);
    try {
      const result = await ask(state, node, isIdle, signal);
      // What could not be used pays no strikes back.
      if (result !== 'halted' && !lowHead.isMet()) nodes.reportSuccess(node.id);
      failures = 0;
      hasMore = result === 'more';
      return result;
    } catch (error) {
      // An error that the adapter does not understand is a reason to ask another node.
      const failure = failureOf(node, error);
      if (failure !== undefined) nodes.reportFailure(node.id, failure);
      throw failure ?? error;
    }
  };

  async function ask(
    state: ChainState,
    node: Node,
    isIdle: boolean,
    signal: AbortSignal,
  ): Promise<TickResult> {
    const polledAt = new Date(clock());
    const height = isIdle ? state.head_height : state.cursor_height;
    const isListed = state.halted === null && parts.mempool.isListed();
    const heads = await readHeads(watcher, node, height, signal, isListed);
    if (heads.tip.height < (state.cursor_height ?? 0))
      return lowHead.meet(state, node, heads, signal);
    lowHead.isOver(node.id);
    const tips = { tip: heads.tip.height, final: heads.finalHeight };
    const round: Round = { state, node, heads, tips, isListed, polledAt, signal };
    if (isIdle) return idleWatch.run(round);
    idleWatch.isOver();
    const { cursorHash } = heads;
    const isOther = cursorHash !== undefined && state.cursor_hash !== cursorHash;
    if (state.cursor_height !== null && isOther)
      return (await meetAnotherHash(watcher, node, state, cursorHash, signal)) ? 'more' : 'halted';
    if (state.halted !== null) return resume(watcher, node, state, signal);
    return blockWatch.run(round);
  }
}

/**
 * The node has the block at the cursor of a halted chain, which another node may have had otherwise. If one still
 * has, the chain stays halted.
 */
async function resume(
  watcher: Watcher,
  node: Node,
  state: ChainState,
  signal: AbortSignal,
): Promise<TickResult> {
  const { chain, lease, log } = watcher;
  const contradiction = await findContradiction(watcher, node, state, signal);
  if (contradiction !== undefined) {
    await halt(watcher, node, state, contradiction);
    return 'halted';
  }
  const label = { chain: chain.id, node: node.label };
  log.warn(label, 'chain watched on: the node has the last recorded block');
  await lease.write(tx => updateChain(tx, chain.id, { halted: null }));
  return 'more';
}
