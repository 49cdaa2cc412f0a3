import { listSettledNetworks } from '../../repositories/chains/networks.ts';
import { addRescanOnce } from '../../repositories/chains/rescans.ts';
import {
  listUnplaced,
  type UnsettledDeposit,
} from '../../repositories/deposits/watched-deposits.ts';
import { reportCorrection } from '../../settlement/correct-deposit.ts';
import { timeOf } from '../../settlement/observe-transfer.ts';
import type { ObservedTransfer } from '../../settlement/observed-transfer.ts';
import type { Watcher } from '../watcher.ts';
import { confirmByCheckNode } from './confirmation-check.ts';
import { lookUpDeposits, type Placed } from './look-up-deposits.ts';
import { record, toObserved, toReported } from './record.ts';
import type { Round } from './round.ts';
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
   * Looks for seen deposits that have no block: undone ones, those that were told otherwise than recorded, and
   * on Bitcoin those in the mempool. What is in a block is placed, or recorded anew if it is told otherwise
   * again, by the check node as well where there is one; what is nowhere is reversed.
   * @throws NodeFailure, LeaseLost.
   */
  run(watcher: Watcher, round: Pick<Round, 'node' | 'tips' | 'signal'>): Promise<void>;
}

export function createUnconfirmedCheck(): UnconfirmedCheck {
  /** Since when transactions have been missing, in milliseconds since the epoch, by hash. */
  let missing = new Map<string, number>();

  return {
    async run(watcher, { node, tips, signal }) {
      const { adapter, chain, clock, db } = watcher;
      const unplaced = await listUnplaced(db, chain.id, BATCH);
      const sought = unplaced.filter(
        ({ transaction_hash: hash }) => adapter.isInMempool?.(hash) !== true,
      );
      const stillMissing = new Map<string, number>();
      const observed: ObservedTransfer[] = [];
      const otherwise: Placed[] = [];
      for (const placed of await lookUpDeposits(watcher, node, sought)) {
        const { deposit, report, transfer, other, isUntraced } = placed;
        const hash = deposit.transaction_hash;
        if (report.status === 'included' && transfer !== undefined) {
          observed.push(toObserved(transfer, 'seen', timeOf(deposit)));
        } else if (report.status === 'included' && other !== undefined) {
          otherwise.push(placed);
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
          if (report.status === 'included')
            await reportAbsence(watcher, deposit, report.block.height);
        }
      }
      missing = stillMissing;
      for (const { deposit, other } of await confirmByCheckNode(watcher, otherwise, signal)) {
        if (other === undefined) continue;
        observed.push({ ...toObserved(other, 'seen', timeOf(deposit)), isCorrection: true });
      }
      await record(watcher, observed);
    },
  };
}

/** What the transaction pays in place of the deposit is found by another scan of its block. */
async function reportAbsence(
  { chain, clock, db, lease }: Watcher,
  deposit: UnsettledDeposit,
  height: number,
): Promise<void> {
  const now = new Date(clock());
  const networks = await listSettledNetworks(db, chain.id);
  await lease.writeBeside(async tx => {
    await reportCorrection(tx, deposit, null, now);
    for (const { id: blockchainId } of networks) {
      const block = { blockchainId, from: height, to: height, askedBy: 'watcher' };
      await addRescanOnce(tx, block, now);
    }
  });
}
