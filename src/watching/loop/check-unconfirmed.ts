import type { Node } from '../../nodes/node.ts';
import { listUnplaced } from '../../repositories/watched-deposits.ts';
import { timeOf } from '../../settlement/observe-transfer.ts';
import type { ObservedTransfer } from '../../settlement/observed-transfer.ts';
import type { Watcher } from '../watcher.ts';
import { lookUpDeposits } from './look-up-deposits.ts';
import { record, toObserved, toReported } from './record.ts';
import type { Tips } from './round.ts';
import { failed, isDeepEnough } from './settle.ts';

/** Deposits that are considered in a tick: more than wait in a mempool at once, which are not asked for. */
const BATCH = 2_000;

/**
 * How long a Bitcoin transaction may be in no mempool, while nobody spends what it spends, before it
 * counts as gone, in milliseconds: nodes drop transactions with low fees, and wallets send them again.
 */
const FORGOTTEN_AFTER_MS = 2 * 60 * 60_000;

/** Finds seen deposits that are in no block. Knows since when a transaction has been missing. */
export interface UnconfirmedCheck {
  /**
   * Looks for seen deposits that have no block: undone ones, and on Bitcoin those in the mempool. What is
   * in a block is placed; what is nowhere is reversed.
   * @throws NodeFailure, LeaseLost.
   */
  run(watcher: Watcher, node: Node, tips: Tips): Promise<void>;
}

export function createUnconfirmedCheck(): UnconfirmedCheck {
  /** Since when transactions have been missing, in milliseconds since the epoch, by hash. */
  let missing = new Map<string, number>();

  return {
    async run(watcher, node, tips) {
      const { adapter, chain, clock, db } = watcher;
      const unplaced = await listUnplaced(db, chain.id, BATCH);
      const sought = unplaced.filter(
        ({ transaction_hash: hash }) => adapter.isInMempool?.(hash) !== true,
      );
      const stillMissing = new Map<string, number>();
      const observed: ObservedTransfer[] = [];
      for (const { deposit, report, transfer, other, isUntraced } of await lookUpDeposits(
        watcher,
        node,
        sought,
      )) {
        const hash = deposit.transaction_hash;
        const told = transfer ?? other;
        if (report.status === 'included' && told !== undefined) {
          observed.push(toObserved(told, 'seen', timeOf(deposit)));
        } else if (report.status === 'failed') {
          if (isDeepEnough(watcher, deposit, report.block.height, tips)) {
            observed.push(failed(deposit, report));
          }
        } else if (report.status === 'unknown' && chain.family === 'bitcoin') {
          const since = missing.get(hash) ?? clock();
          if (clock() - since >= FORGOTTEN_AFTER_MS) observed.push(toReported(deposit, 'reversed'));
          else stillMissing.set(hash, since);
        } else if (report.status !== 'pending' && report.status !== 'unreadable' && !isUntraced) {
          // Unknown, replaced, or in a block without this transfer.
          observed.push(toReported(deposit, 'reversed'));
        }
      }
      missing = stillMissing;
      await record(watcher, observed);
    },
  };
}
