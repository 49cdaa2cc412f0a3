import type { Unreadable } from '#chains/adapter.ts';
import { listSettledNetworks } from '#storage/repositories/chains/networks.ts';
import { addRescanOnce } from '#storage/repositories/chains/rescans.ts';
import {
  listUnplaced,
  setMissingSince,
  type UnsettledDeposit,
} from '#storage/repositories/deposits/watched-deposits.ts';
import { reportCorrection } from '../../settlement/correct-deposit.ts';
import { type ObservedTransfer, timeOf } from '../../settlement/observed-transfer.ts';
import type { Watcher } from '../watcher.ts';
import { confirmByCheckNode } from './confirmation-check.ts';
import { type LookedUp, lookUpDeposits } from './look-up-deposits.ts';
import { recordTransfers, toObserved, toReported } from './record-transfers.ts';
import type { Round } from './round.ts';
import { failed, isDeepEnough } from './settle.ts';
import { reportUnreadable, toUnreadable } from './unreadable.ts';

/**
 * Maximum number of deposits that a tick considers: more than wait in a mempool at once. Those in the mempool are not
 * looked up.
 */
export const UNPLACED_MAXIMUM = 2_000;

/**
 * How long a Bitcoin transaction may be in no mempool, while its inputs stay unspent, before it counts as gone, in
 * milliseconds: nodes drop transactions with low fees, and wallets send them again.
 */
export const FORGOTTEN_AFTER_MS = 2 * 60 * 60_000;

/**
 * Looks up seen deposits that have no block: undone ones, those that a node reported differently from the record, and
 * on Bitcoin those in the mempool. A deposit that is found in a block gets that block. If it is reported differently
 * again, also by the check node if there is one, the record is corrected. A deposit that is found nowhere is
 * reversed.
 * @throws NodeFailure, LeaseLost.
 */
export async function checkUnconfirmed(
  watcher: Watcher,
  { node, heads, signal }: Pick<Round, 'node' | 'heads' | 'signal'>,
): Promise<void> {
  const { adapter, chain, clock, db } = watcher;
  const unplaced = await listUnplaced(db, chain.id, UNPLACED_MAXIMUM);
  const sought = unplaced.filter(
    ({ transaction_hash: hash }) => adapter.isInMempool?.(hash) !== true,
  );
  const missing = new Set<UnsettledDeposit>();
  const observed: ObservedTransfer[] = [];
  const otherwise: LookedUp[] = [];
  const unreadable: Unreadable[] = [];
  for (const found of await lookUpDeposits(watcher, node, sought)) {
    const { deposit, report, transfer, other, isUntraced } = found;
    if (report.status === 'included' && transfer !== undefined) {
      observed.push(toObserved(transfer, 'seen', timeOf(deposit)));
    } else if (report.status === 'included' && other !== undefined) {
      otherwise.push(found);
    } else if (report.status === 'failed') {
      if (isDeepEnough(watcher, deposit, report.block.height, heads)) {
        observed.push(failed(deposit, report));
      }
    } else if (report.status === 'unknown' && chain.family === 'bitcoin') {
      const since = deposit.missing_since?.getTime() ?? clock();
      if (clock() - since >= FORGOTTEN_AFTER_MS) observed.push(toReported(deposit, 'reversed'));
      else missing.add(deposit);
    } else if (report.status === 'unreadable') {
      // For a transaction in the mempool this is a momentary failure of the node.
      if (chain.family !== 'bitcoin') unreadable.push(toUnreadable(deposit, report.detail));
    } else if (report.status !== 'pending' && !isUntraced) {
      // Unknown, replaced, or in a block without this transfer.
      observed.push(toReported(deposit, 'reversed'));
      if (report.status === 'included') await reportAbsence(watcher, deposit, report.block.height);
    }
  }
  await noteMissing(watcher, unplaced, missing);
  const right = await confirmByCheckNode(watcher, node, otherwise, signal);
  for (const { deposit, transfer, other } of right) {
    const at = timeOf(deposit);
    if (transfer !== undefined) observed.push(toObserved(transfer, 'seen', at));
    if (other === undefined) continue;
    observed.push({ ...toObserved(other, 'seen', at), isCorrection: true });
  }
  await recordTransfers(watcher, observed);
  await reportUnreadable(db, chain.id, unreadable, new Date(clock()));
}

/** Records which deposits have gone missing, and which are there again. */
async function noteMissing(
  { clock, lease }: Watcher,
  unplaced: readonly UnsettledDeposit[],
  missing: ReadonlySet<UnsettledDeposit>,
): Promise<void> {
  const idsOf = (list: readonly UnsettledDeposit[]) => list.map(({ id }) => id);
  const gone = idsOf([...missing].filter(({ missing_since: since }) => since === null));
  const back = idsOf(unplaced.filter(each => each.missing_since !== null && !missing.has(each)));
  if (gone.length + back.length === 0) return;
  await lease.writeBeside(async tx => {
    await setMissingSince(tx, gone, new Date(clock()));
    await setMissingSince(tx, back, null);
  });
}

/** Adds a finding, and requests a rescan of the block for other transfers of the transaction. */
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
