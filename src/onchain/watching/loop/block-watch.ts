import { MissingItems } from '#chains/missing-items.ts';
import type { Block, WatchedAddress } from '#chains/transfer.ts';
import { hasExpiringPayment } from '#storage/repositories/chains/watch-list.ts';
import { listUnplaced } from '#storage/repositories/deposits/watched-deposits.ts';
import { nativeAddresses } from '../watch-list.ts';
import type { Watcher } from '../watcher.ts';
import { createBalanceCheck } from './balance-check.ts';
import { STATE_KEPT } from './balance-increases.ts';
import { checkUnconfirmed, UNPLACED_MAXIMUM } from './check-unconfirmed.ts';
import { sweptUntil } from './coverage.ts';
import { FinalPolls } from './final-polls.ts';
import { FirstLooks } from './first-looks.ts';
import { findInternalTransfers, noteJoined } from './internal-transfers.ts';
import type { Mempool } from './mempool.ts';
import { NativeDust } from './native-dust.ts';
import { mayCountAsLately } from './occurred-at.ts';
import { createPeriod } from './period.ts';
import { placeCursor } from './place-cursor.ts';
import { recordProgress } from './record-progress.ts';
import { askedSince } from './record-seen.ts';
import type { Rescans } from './rescan.ts';
import { RETRY_EVERY_MS, retryUnapplied } from './retry-unapplied.ts';
import type { Round } from './round.ts';
import { type Pass, scanToTip } from './scan.ts';
import { settle } from './settle.ts';
import { sweep } from './sweep.ts';
import { retryUnexplained } from './unexplained.ts';
import { retryUnreadable } from './unreadable.ts';

/** How often a chain that is far behind is checked for blocks to skip, in milliseconds. */
const PLACE_EVERY_MS = 10 * 60_000;
/** How often balances are checked for transfers by contracts, in milliseconds. */
const INTERNAL_EVERY_MS = 60_000;

/**
 * Reads the new blocks of a chain on which payments wait, and settles the deposits that they contain.
 * @throws NodeFailure, LeaseLost.
 */
type BlockWatch = (round: Round) => Promise<'done' | 'more'>;

export function createBlockWatch(
  watcher: Watcher,
  { mempool, rescan }: { readonly mempool: Mempool; readonly rescan: Rescans },
): BlockWatch {
  const { adapter, chain, clock, db } = watcher;
  const dust = new NativeDust();
  const misses = new MissingItems();
  const finalPolls = new FinalPolls();
  const looks = new FirstLooks();
  const balanceCheck = createBalanceCheck(watcher);
  const placements = createPeriod(clock, PLACE_EVERY_MS);
  const balanceLooks = createPeriod(clock, INTERNAL_EVERY_MS);
  const retries = createPeriod(clock, RETRY_EVERY_MS);

  return async round => {
    const { state, heads } = round;
    if (placements.isDue()) {
      const moved = await placeCursor(watcher, round);
      placements.start();
      if (moved) return 'more';
    }
    const pass = await prepare(round);
    const through = await scanToTip(watcher, state, pass);
    if (through !== undefined) looks.add(through, clock());
    const isAtTip = (through?.height ?? state.cursor_height) === heads.tip.height;
    const unread = isAtTip
      ? await mempool.read(round, pass.watch)
      : { complete: false, more: true };
    const isComplete = unread.complete;
    if (isAtTip) await checkUnconfirmed(watcher, round);
    await settle(watcher, round);
    const swept = await sweep(watcher, pass, looks);
    const atCursor = through ?? (isAtTip ? heads.tip : undefined);
    if (isComplete && atCursor !== undefined) {
      await lookForInternalTransfers(round, pass.watch, atCursor);
    }
    const finalUntil = finalPolls.find(heads.finalHeight, round.polledAt)?.at ?? null;
    // Transfers by contracts are looked for at the newest block only.
    const isCompared = isComplete || adapter.internal === undefined;
    const hasAll = isCompared || nativeAddresses(pass.watch).length === 0;
    const expiresUntil = hasAll ? await decideExpiry(round, pass.watch, swept) : null;
    const rescanned = isComplete && (await rescan(round));
    if (isComplete) await retry(round);
    const isBrokenOff = !isAtTip && mayCountAsLately(state.polled_at, new Date(clock()));
    const reached = { finalUntil, through: atCursor, expiresUntil, isComplete, isBrokenOff };
    await recordProgress(watcher, round, reached);
    return unread.more || rescanned ? 'more' : 'done';
  };

  /** Reads the watch list, and the balances of new addresses before blocks after the cursor are scanned. */
  async function prepare(round: Round): Promise<Pass> {
    const { state, node, heads, signal } = round;
    const watch = await watcher.watchList.read(db, new Date(clock()));
    finalPolls.add(state);
    dust.begin(state);
    looks.begin(state, clock());
    if (state.cursor_height !== null && state.cursor_hash !== null) {
      const cursor = { height: state.cursor_height, hash: state.cursor_hash };
      // A node has no balances of older blocks. They are read once the chain has caught up.
      if (heads.tip.height - cursor.height <= STATE_KEPT)
        await noteJoined(watcher, node, watch, cursor);
    }
    await balanceCheck.noteJoined(round, watch);
    const since = askedSince(watcher, state.watched_until);
    const noteDust = dust.add.bind(dust, chain.id);
    const dependent =
      adapter.readMempool &&
      (await listUnplaced(db, chain.id, UNPLACED_MAXIMUM, state.cursor_height));
    const known = { watch, ...(dependent && { dependent }) };
    return { node, heads, ...known, askedSince: since, noteDust, signal };
  }

  /** Runs each minute, and while a payment is about to expire: a paid one must not expire. */
  async function lookForInternalTransfers(
    round: Round,
    watch: readonly WatchedAddress[],
    cursor: Block,
  ): Promise<void> {
    if (adapter.internal === undefined || nativeAddresses(watch).length === 0) return;
    const soon = new Date(clock() + INTERNAL_EVERY_MS);
    if (!balanceLooks.isDue() && !(await hasExpiringPayment(db, chain.id, soon))) return;
    const { state, heads } = round;
    await findInternalTransfers(watcher, round, watch, cursor, {
      finalHeight: heads.finalHeight ?? cursor.height,
      timing: { last: state, askedSince: askedSince(watcher, state.watched_until) },
      dust,
      misses,
    });
    balanceLooks.start();
  }

  /** Up to when payments may expire, given the blocks that were read twice; null if there are none. */
  async function decideExpiry(
    round: Round,
    watch: readonly WatchedAddress[],
    swept: Block | undefined,
  ): Promise<Date | null> {
    const { heads, polledAt } = round;
    if (chain.coverage === 'final-poll') {
      // Here the balance check is the second look, some time after the poll.
      const by = new Date(polledAt.getTime() - chain.secondLookAfterMs);
      const poll = finalPolls.find(heads.finalHeight, by);
      if (poll === undefined) return null;
      // A server that lags by less than `secondLookAfterMs` has that block, too.
      const swept = { height: poll.height, hash: '' };
      return balanceCheck.run(round, watch, { swept, until: poll.at });
    }
    if (swept === undefined || chain.coverage !== 'blocks') return null;
    const until = sweptUntil(chain, heads, polledAt, swept);
    return balanceCheck.run(round, watch, { swept, until });
  }

  async function retry(round: Round): Promise<void> {
    if (!retries.isDue()) return;
    const { node } = round;
    await retryUnapplied(watcher, node);
    await retryUnreadable(watcher, node);
    await retryUnexplained(watcher, round);
    retries.start();
  }
}
