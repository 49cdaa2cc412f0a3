import type { Block, Heads, WatchedAddress } from '../../chains/adapter.ts';
import type { ChainState } from '../../database/watching-tables.ts';
import { type Node, NodeFailure, RpcError } from '../../nodes/node.ts';
import { findChain, updateChain } from '../../repositories/chains.ts';
import { hasExpiringPayment, listEndingAddresses } from '../../repositories/watch-list.ts';
import type { Watcher } from '../watcher.ts';
import { STATE_KEPT } from './balance-increases.ts';
import { createPlacing } from './check-unconfirmed.ts';
import { coveredUntil } from './coverage.ts';
import { IDLE_POLL_MS, moveIdleCursor } from './idle.ts';
import { findInflows, NativeDust, nativeAddresses, noteJoined } from './internal-transfers.ts';
import { createLowHead } from './low-head.ts';
import { createMempool } from './mempool.ts';
import { wasPolledLately } from './occurred-at.ts';
import { placeCursor } from './place-cursor.ts';
import { readHeads } from './read-heads.ts';
import { finish, later } from './record-progress.ts';
import { askedSince } from './record-seen.ts';
import { meetAnotherHash, requireSameChain } from './reorganise.ts';
import { continueRescan } from './rescan.ts';
import { RETRY_EVERY_MS, retryUnapplied } from './retry-unapplied.ts';
import { type Pass, scanToTip } from './scan.ts';
import { settle, type Tips } from './settle.ts';
import { lookAgain } from './sweep.ts';
import { retryUnreadable } from './unreadable.ts';

/** How often a chain that is far behind is looked at for blocks to skip, in milliseconds. */
const PLACE_EVERY_MS = 10 * 60_000;
/** How often balances are looked at for what contracts have sent, in milliseconds. */
const INFLOWS_EVERY_MS = 60_000;
/** Addresses whose payments end that one look is told of: more than end within seconds. */
const ENDING_MAXIMUM = 1_000;

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
  const { adapter, chain, clock, db, lease, log, nodes } = watcher;
  const placing = createPlacing();
  const mempool = createMempool(watcher);
  const lowHead = createLowHead(watcher);
  const dust = new NativeDust();
  let inflowsAt = Number.NEGATIVE_INFINITY;
  let retriedAt = Number.NEGATIVE_INFINITY;
  let placedAt = Number.NEGATIVE_INFINITY;
  let rescanFailedAt = Number.NEGATIVE_INFINITY;
  let askedAt = Number.NEGATIVE_INFINITY;
  /** The newest block that the look before was told of, while nothing is watched. */
  let told: Block | undefined;
  /** Whether a rescan goes on, for which an idle chain is looked at again at once. */
  let isRescanning = false;

  return async signal => {
    if (!(await lease.hold())) return 'elsewhere';
    using _kept = lease.keep();
    const state = await findChain(db, chain.id);
    if (state === undefined) return 'halted';
    const isHalted = state.halted !== null;
    if (isHalted && Math.abs(clock() - askedAt) < IDLE_POLL_MS) return 'halted';
    await nodes.refresh();
    const idle = !isHalted && (await watcher.watchList.read(db, new Date(clock()))).length === 0;
    if (idle && !isRescanning && wasPolled(state, clock())) return 'nothing';

    askedAt = clock();
    const node = await nodes.primary(signal);
    try {
      return await ask(state, node, idle, signal);
    } catch (error) {
      // An error that the adapter does not understand is a reason to ask another node.
      const failure = error instanceof RpcError ? asFailure(node, error) : error;
      if (failure instanceof NodeFailure) nodes.reportFailure(node.id, failure);
      throw failure;
    }
  };

  async function ask(
    state: ChainState,
    node: Node,
    idle: boolean,
    signal: AbortSignal,
  ): Promise<TickResult> {
    const polledAt = new Date(clock());
    const height = idle ? state.head_height : state.cursor_height;
    const heads = await readHeads(watcher, node, height, signal);
    if (heads.tip.height < (state.cursor_height ?? 0)) return lowHead.meet(state, node, heads);
    lowHead.isOver();
    if (idle) return watchNothing(state, node, heads, polledAt, signal);
    told = undefined;
    const { cursorHash } = heads;
    const isOther = cursorHash !== undefined && state.cursor_hash !== cursorHash;
    if (state.cursor_height !== null && isOther)
      return (await meetAnotherHash(watcher, node, state, cursorHash)) ? 'more' : 'halted';
    if (state.halted !== null) return watchOn(node);
    return watch(state, node, heads, polledAt, signal);
  }

  /** The node has the block at the cursor of a halted chain, which another node may have had otherwise. */
  async function watchOn({ label: node }: Node): Promise<TickResult> {
    log.warn({ chain: chain.id, node }, 'chain watched on: the node has the last recorded block');
    await lease.write(tx => updateChain(tx, chain.id, { halted: null }));
    return 'more';
  }

  async function watchNothing(
    state: ChainState,
    node: Node,
    heads: Heads,
    polledAt: Date,
    signal: AbortSignal,
  ): Promise<TickResult> {
    const tips = tipsOf(heads);
    const isOther = told?.height === state.head_height && told?.hash !== heads.cursorHash;
    if (told !== undefined && isOther) await requireSameChain(watcher, node, state);
    told = heads.tip;
    if (state.cursor_height === null) {
      await placeCursor(watcher, node, state, { tip: heads.tip, tips });
    }
    await moveIdleCursor(watcher, state, heads, polledAt);
    await mempool.read(state, node, []);
    isRescanning = await rescan(node, tips, signal);
    await lease.write((tx, { watched_until: former }) =>
      updateChain(tx, chain.id, {
        watched_until: later(former, coveredUntil(chain, heads, polledAt, heads.tip)),
      }),
    );
    return isRescanning ? 'more' : 'nothing';
  }

  async function watch(
    state: ChainState,
    node: Node,
    heads: Heads,
    polledAt: Date,
    signal: AbortSignal,
  ): Promise<TickResult> {
    const tips = tipsOf(heads);
    if (Math.abs(clock() - placedAt) >= PLACE_EVERY_MS) {
      const moved = await placeCursor(watcher, node, state, { tip: heads.tip, tips });
      placedAt = clock();
      if (moved) return 'more';
    }
    const list = await watcher.watchList.read(db, new Date(clock()));
    const ending =
      adapter.looksOnce === true
        ? await listEndingAddresses(db, chain.id, new Date(clock()), ENDING_MAXIMUM)
        : [];
    const since = askedSince(watcher, state.watched_until);
    dust.begin(state);
    const noteDust = dust.add.bind(dust, chain.id);
    const pass: Pass = { node, tips, watch: list, ending, askedSince: since, noteDust, signal };
    if (state.cursor_height !== null && state.cursor_hash !== null) {
      const cursor = { height: state.cursor_height, hash: state.cursor_hash };
      // Further back a node has forgotten what was held; once the chain is caught up, it is read.
      if (tips.tip - cursor.height <= STATE_KEPT) await noteJoined(watcher, node, list, cursor);
    }
    const through = await scanToTip(watcher, state, pass);
    const isAtTip = (through?.height ?? state.cursor_height) === heads.tip.height;
    const unread = isAtTip
      ? await mempool.read(state, node, list)
      : { complete: false, more: true };
    const isComplete = unread.complete;
    if (isAtTip) await placing.run(watcher, node, tips);
    await settle(watcher, node, tips, signal);
    const swept = await lookAgain(watcher, pass, heads.tip);
    const atCursor = through ?? (isAtTip ? heads.tip : undefined);
    if (isComplete && atCursor !== undefined)
      await lookForInflows(state, node, list, atCursor, tips);
    const rescanned = isComplete && (await rescan(node, tips, signal));
    if (isComplete) await retry(node);
    const isBrokenOff = !isAtTip && wasPolledLately(state.polled_at, new Date(clock()));
    await finish(watcher, { heads, polledAt, through: atCursor, swept, isComplete, isBrokenOff });
    return unread.more || rescanned ? 'more' : 'done';
  }

  /** Each minute, and while a payment is about to expire, which must not happen to one that was paid. */
  async function lookForInflows(
    state: ChainState,
    node: Node,
    list: readonly WatchedAddress[],
    cursor: Block,
    tips: Tips,
  ): Promise<void> {
    if (adapter.internal === undefined || nativeAddresses(list).length === 0) return;
    const isDue = Math.abs(clock() - inflowsAt) >= INFLOWS_EVERY_MS;
    if (!isDue && !(await hasExpiringPayment(db, chain.id, new Date(clock() + INFLOWS_EVERY_MS)))) {
      return;
    }
    await findInflows(watcher, node, list, cursor, {
      finalHeight: tips.final ?? cursor.height,
      sight: { last: state, askedSince: askedSince(watcher, state.watched_until) },
      dust,
    });
    inflowsAt = clock();
  }

  /**
   * Goes on with a rescan. Its blocks may be such as the node has no more, which must not keep the chain
   * from being watched: it waits then.
   */
  async function rescan(node: Node, tips: Tips, signal: AbortSignal): Promise<boolean> {
    if (Math.abs(clock() - rescanFailedAt) < RETRY_EVERY_MS) return false;
    try {
      return await continueRescan(watcher, { node, tips, signal });
    } catch (error) {
      if (!(error instanceof NodeFailure || error instanceof RpcError)) throw error;
      log.warn({ err: error, chain: chain.id }, 'rescan waits for a node that can do it');
      rescanFailedAt = clock();
      return false;
    }
  }

  async function retry(node: Node): Promise<void> {
    if (Math.abs(clock() - retriedAt) < RETRY_EVERY_MS) return;
    await retryUnapplied(watcher, node);
    await retryUnreadable(watcher, node);
    retriedAt = clock();
  }
}

function asFailure({ label }: Node, error: RpcError): NodeFailure {
  return new NodeFailure(`${label}: ${error.message}`, { cause: error });
}

function wasPolled({ polled_at: polledAt }: ChainState, now: number): boolean {
  return polledAt !== null && Math.abs(now - polledAt.getTime()) < IDLE_POLL_MS;
}

function tipsOf({ tip, finalHeight }: Heads): Tips {
  return { tip: tip.height, final: finalHeight };
}
