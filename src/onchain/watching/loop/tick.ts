import { failureOf, type Node } from '#chains/nodes/node.ts';
import type { ChainState } from '#storage/database/watching-tables.ts';
import { findChain, updateChain } from '#storage/repositories/chains/chains.ts';
import type { Watcher } from '../watcher.ts';
import { findContradiction } from './another-node.ts';
import { createBlockWatch } from './block-watch.ts';
import { halt } from './halt.ts';
import { createIdleWatch, IDLE_POLL_MS, lookAt, wasPolled } from './idle-watch.ts';
import { createLowHead } from './low-head.ts';
import { createMempool } from './mempool.ts';
import { createPeriod } from './period.ts';
import { readHeads } from './read-heads.ts';
import { handleOtherHash } from './reorganise.ts';
import { createRescans } from './rescan.ts';
import type { Round } from './round.ts';

/** Ticks after a failed one that run without asking the daily quota. */
const RETRIES = 3;

/** The result of a tick. */
export type TickResult =
  /** Another worker watches the chain. */
  | 'elsewhere'
  /** Nothing is written until the node has a recorded block again, or an operator resumes the chain. */
  | 'halted'
  /** Nothing is watched, or the node's newest block is below the cursor. */
  | 'nothing'
  /** Read up to the newest block. */
  | 'done'
  /** There is more to read: run the next tick at once. */
  | 'more';

export type Tick = (signal: AbortSignal) => Promise<TickResult>;

/**
 * One round of a watcher: asks one node for new blocks and records their transfers. Everything that must survive is
 * in the database, so a crash costs at most one round.
 *
 * The order matters: it reads the newest block, then the watch list, and then scans up to that block. So an address
 * that is not on the list cannot have been paid yet.
 * @throws NodeFailure, LeaseLost, and errors of the database.
 */
export function createTick(watcher: Watcher): Tick {
  const { chain, clock, db, lease, nodes } = watcher;
  const lowHead = createLowHead(watcher);
  const parts = { mempool: createMempool(watcher), rescan: createRescans(watcher) };
  const idleWatch = createIdleWatch(watcher, parts);
  const watchBlocks = createBlockWatch(watcher, parts);
  const haltedPolls = createPeriod(clock, IDLE_POLL_MS);
  /** Whether the previous look has left something to read. */
  let hasMore = false;
  /** Consecutive ticks whose node has failed. */
  let failures = 0;
  /** Whether this look continues the previous one, which the daily quota has allowed already. */
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
      // Only a useful response removes strikes of the node.
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
      return lowHead.handle(state, node, heads, signal);
    lowHead.reset(node.id);
    const round: Round = { state, node, heads, isListed, polledAt, signal };
    if (isIdle) return idleWatch.run(round);
    idleWatch.reset();
    const { cursorHash } = heads;
    const isOther = cursorHash !== undefined && state.cursor_hash !== cursorHash;
    if (state.cursor_height !== null && isOther)
      return (await handleOtherHash(watcher, node, state, cursorHash, signal)) ? 'more' : 'halted';
    if (state.halted !== null) return resume(watcher, node, state, signal);
    return watchBlocks(round);
  }
}

/**
 * Ends a halt: this node has the recorded block at the cursor, which another node may have lacked. If another node
 * still has a different block there, the chain stays halted.
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
