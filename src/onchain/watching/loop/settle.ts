import type { Heads, TransactionReport, Unreadable } from '#chains/adapter.ts';
import { isSettled, parseFinality } from '#chains/finality.ts';
import type { Node } from '#chains/nodes/node.ts';
import { recordResponses } from '#chains/nodes/record-responses.ts';
import {
  listUnsettled,
  type UnsettledDeposit,
} from '#storage/repositories/deposits/watched-deposits.ts';
import { type ObservedTransfer, timeOf } from '../../settlement/observed-transfer.ts';
import type { Watcher } from '../watcher.ts';
import { confirmByCheckNode } from './confirmation-check.ts';
import { keepEvidence } from './keep-evidence.ts';
import { type LookedUp, lookUpDeposits } from './look-up-deposits.ts';
import { recordTransfers, toObserved, toReported } from './record-transfers.ts';
import type { Round } from './round.ts';
import { unlessNodeFails } from './unless-node-fails.ts';
import { reportUnreadable, toUnreadable } from './unreadable.ts';

/** Deposits per batch. */
const BATCH = 200;

const LACKING = 'The node has its block, and does not show the transaction.';

/**
 * Makes deposits final that are deep enough: each one's transaction is looked up once more, and confirmed by the
 * check node if there is one.
 * @throws NodeFailure of the primary node, LeaseLost.
 */
export async function settle(
  watcher: Watcher,
  round: Pick<Round, 'node' | 'heads' | 'signal'>,
): Promise<void> {
  const { db, chain } = watcher;
  const { heads, signal } = round;
  let after: UnsettledDeposit | null = null;
  while (!signal.aborted) {
    const newest = heads.tip.height;
    const rows: UnsettledDeposit[] = await listUnsettled(db, chain.id, newest, after, BATCH);
    const due = rows.filter(
      row => row.block_height !== null && isDeepEnough(watcher, row, row.block_height, heads),
    );
    await settleDue(watcher, round, due);
    const last = rows.at(-1);
    if (rows.length < BATCH || last === undefined) return;
    after = last;
  }
}

/** Whether a block of this height is deep enough for what the deposit's payment asks for. */
export function isDeepEnough(
  { chain }: Watcher,
  deposit: UnsettledDeposit,
  height: number,
  { tip, finalHeight }: Heads,
): boolean {
  return isSettled(parseFinality(deposit.finality ?? chain.finality), {
    cents: deposit.cents,
    depth: tip.height - height + 1,
    isFinal: finalHeight !== null && height <= finalHeight,
  });
}

async function settleDue(
  watcher: Watcher,
  { node, heads, signal }: Pick<Round, 'node' | 'heads' | 'signal'>,
  due: readonly UnsettledDeposit[],
): Promise<void> {
  if (due.length === 0) return;
  const observed: ObservedTransfer[] = [];
  const confirmed: LookedUp[] = [];
  const contradicted: LookedUp[] = [];
  const absent: UnsettledDeposit[] = [];
  const unreadable: Unreadable[] = [];
  const recorded = recordResponses(node);
  for (const found of await lookUpDeposits(watcher, recorded.node, due, heads.finalHeight)) {
    const { deposit, report, transfer } = found;
    const at = timeOf(deposit);
    if (report.status === 'included' && transfer !== undefined) {
      const { block } = report;
      const moved = block.hash !== deposit.block_hash;
      const matured = heads.tip.height - block.height + 1 >= transfer.maturity;
      if (moved) observed.push(toObserved(transfer, 'seen', at));
      else if (matured) confirmed.push(found);
    } else if (
      report.status === 'failed' &&
      isDeepEnough(watcher, deposit, report.block.height, heads)
    ) {
      observed.push(failed(deposit, report));
    } else if (report.status === 'unreadable') {
      unreadable.push(toUnreadable(deposit, report.detail));
    } else if (report.status === 'included' && !found.isUntraced) {
      contradicted.push(found);
    } else if (report.status !== 'failed') {
      absent.push(deposit);
    }
  }
  const { astray, lacking } = await readBlocksOf(watcher, node, absent);
  observed.push(...astray.map(deposit => toReported(deposit, 'seen')));
  unreadable.push(...lacking.map(deposit => toUnreadable(deposit, LACKING)));
  const shown = [...contradicted, ...confirmed];
  const right = await confirmByCheckNode(watcher, node, shown, signal);
  for (const { deposit, transfer } of right) {
    // The deposit loses its block for now. `check-unconfirmed.ts` looks it up once more before anything is undone.
    if (transfer === undefined) observed.push(toReported(deposit, 'seen'));
    else observed.push(toObserved(transfer, 'final', timeOf(deposit)));
  }
  await keepEvidence(
    watcher,
    recorded,
    confirmed.filter(each => right.includes(each)),
  );
  await recordTransfers(watcher, observed);
  await reportUnreadable(watcher.db, watcher.chain.id, unreadable, new Date(watcher.clock()));
}

/**
 * Divides the deposits whose transaction the node does not show. If its chain does not have the block of a deposit,
 * the deposit is astray: it is reported without the block, and looked up again. Another node may have shown that
 * block, so that the cursor finds no fork. If its chain has the block, the node contradicts itself: the deposit is
 * lacking, and waits until the node shows the transaction.
 */
async function readBlocksOf(
  { adapter, chain, log }: Watcher,
  node: Node,
  absent: readonly UnsettledDeposit[],
): Promise<{ astray: readonly UnsettledDeposit[]; lacking: readonly UnsettledDeposit[] }> {
  const astray: UnsettledDeposit[] = [];
  const lacking: UnsettledDeposit[] = [];
  for (const [height, own] of Map.groupBy(absent, ({ block_height: at }) => at)) {
    if (height === null) continue;
    const fields = { chain: chain.id, height };
    const message = 'block of a deposit cannot be read';
    const block = await unlessNodeFails(log, fields, message, () =>
      adapter.readBlock(node, height),
    );
    if (block == null) continue;
    for (const each of own) (each.block_hash === block.hash ? lacking : astray).push(each);
  }
  return { astray, lacking };
}

/** The report of a transaction that was seen and is now reverted in a final block. */
export function failed(
  deposit: UnsettledDeposit,
  { block }: Extract<TransactionReport, { status: 'failed' }>,
): ObservedTransfer {
  return { ...toReported(deposit, 'failed'), blockHeight: block.height, blockHash: block.hash };
}
