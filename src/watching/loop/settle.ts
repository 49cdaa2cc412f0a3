import type { TransactionReport, Unreadable } from '../../chains/adapter.ts';
import { isSettled, parseFinality } from '../../chains/finality.ts';
import { type Node, NodeFailure, RpcError } from '../../nodes/node.ts';
import { recordResponses } from '../../nodes/record-responses.ts';
import {
  listUnsettled,
  type UnsettledDeposit,
} from '../../repositories/deposits/watched-deposits.ts';
import { timeOf } from '../../settlement/observe-transfer.ts';
import type { ObservedTransfer } from '../../settlement/observed-transfer.ts';
import type { Watcher } from '../watcher.ts';
import { confirmByCheckNode } from './confirmation-check.ts';
import { keepEvidence } from './keep-evidence.ts';
import { lookUpDeposits, type Placed } from './look-up-deposits.ts';
import { record, toObserved, toReported } from './record.ts';
import type { Tips } from './round.ts';
import { reportUnreadable } from './unreadable.ts';

/** Deposits that are read at once. */
const BATCH = 200;

/**
 * Makes deposits final that are deep enough: each is asked for once more by its transaction, and confirmed
 * by the check node where there is one.
 * @throws NodeFailure of the primary node, LeaseLost.
 */
export async function settle(
  watcher: Watcher,
  node: Node,
  tips: Tips,
  signal: AbortSignal,
): Promise<void> {
  const { db, chain } = watcher;
  let after: UnsettledDeposit | null = null;
  while (!signal.aborted) {
    const rows: UnsettledDeposit[] = await listUnsettled(db, chain.id, tips.tip, after, BATCH);
    const due = rows.filter(
      row => row.block_height !== null && isDeepEnough(watcher, row, row.block_height, tips),
    );
    await settleDue(watcher, node, due, tips, signal);
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
  { tip, final }: Tips,
): boolean {
  return isSettled(parseFinality(deposit.finality ?? chain.finality), {
    cents: deposit.cents,
    depth: tip - height + 1,
    isFinal: final !== null && height <= final,
  });
}

async function settleDue(
  watcher: Watcher,
  node: Node,
  due: readonly UnsettledDeposit[],
  tips: Tips,
  signal: AbortSignal,
): Promise<void> {
  if (due.length === 0) return;
  const observed: ObservedTransfer[] = [];
  const confirmed: Placed[] = [];
  const contradicted: Placed[] = [];
  const absent: UnsettledDeposit[] = [];
  const unreadable: Unreadable[] = [];
  const recorded = recordResponses(node);
  for (const placed of await lookUpDeposits(watcher, recorded.node, due, tips.final)) {
    const { deposit, report, transfer } = placed;
    const at = timeOf(deposit);
    if (report.status === 'included' && transfer !== undefined) {
      const { block } = report;
      const moved = block.hash !== deposit.block_hash;
      const matured = tips.tip - block.height + 1 >= transfer.maturity;
      if (moved) observed.push(toObserved(transfer, 'seen', at));
      else if (matured) confirmed.push(placed);
    } else if (
      report.status === 'failed' &&
      isDeepEnough(watcher, deposit, report.block.height, tips)
    ) {
      observed.push(failed(deposit, report));
    } else if (report.status === 'unreadable') {
      unreadable.push(toUnreadable(deposit, report.detail));
    } else if (report.status === 'included' && !placed.isUntraced) {
      contradicted.push(placed);
    } else if (report.status !== 'failed') {
      absent.push(deposit);
    }
  }
  observed.push(...(await listAstray(watcher, node, absent)));
  observed.push(...(await doubt(watcher, contradicted, signal)));
  const final = await confirmByCheckNode(watcher, confirmed, signal);
  for (const { deposit, transfer } of final) {
    if (transfer !== undefined) observed.push(toObserved(transfer, 'final', timeOf(deposit)));
  }
  await keepEvidence(watcher, recorded, final);
  await record(watcher, observed);
  await reportUnreadable(watcher.db, watcher.chain.id, unreadable, new Date(watcher.clock()));
}

/**
 * Takes the block from deposits whose transactions the node shows otherwise than they are recorded, and the check
 * node as well where there is one. `check-unconfirmed.ts` looks them up once more before anything is undone.
 */
async function doubt(
  watcher: Watcher,
  contradicted: readonly Placed[],
  signal: AbortSignal,
): Promise<ObservedTransfer[]> {
  const doubtful = await confirmByCheckNode(watcher, contradicted, signal);
  return doubtful.map(({ deposit }) => toReported(deposit, 'seen'));
}

/** A deposit whose transaction could be read when it was seen, and cannot be any more. */
function toUnreadable(
  {
    transaction_hash,
    block_height: height,
    blockchain_id: id,
    contract,
    address,
  }: UnsettledDeposit,
  detail: string,
): Unreadable {
  const watched = [{ network: { id, contract }, address }];
  return { transactionHash: transaction_hash, height, watched, detail };
}

/**
 * Those whose block is not on the node's chain, to be looked for elsewhere: another node may have shown it,
 * so that the cursor finds no fork. Where the block is there, the node contradicts itself.
 */
async function listAstray(
  { adapter, chain, log }: Watcher,
  node: Node,
  absent: readonly UnsettledDeposit[],
): Promise<ObservedTransfer[]> {
  const astray: ObservedTransfer[] = [];
  const readOld = async (height: number) => {
    try {
      return await adapter.readBlock(node, height);
    } catch (error) {
      // A node that has forgotten one old block must not keep the others from being settled.
      if (!(error instanceof NodeFailure || error instanceof RpcError)) throw error;
      log.warn({ err: error, chain: chain.id, height }, 'block of a deposit cannot be read');
      return null;
    }
  };
  for (const [height, own] of Map.groupBy(absent, ({ block_height: at }) => at)) {
    const block = height === null ? null : await readOld(height);
    if (block === null) continue;
    const elsewhere = own.filter(({ block_hash: hash }) => hash !== block.hash);
    astray.push(...elsewhere.map(deposit => toReported(deposit, 'seen')));
  }
  return astray;
}

/** A transaction that was seen and is now in a final block without effect. */
export function failed(
  deposit: UnsettledDeposit,
  { block }: Extract<TransactionReport, { status: 'failed' }>,
): ObservedTransfer {
  return { ...toReported(deposit, 'failed'), blockHeight: block.height, blockHash: block.hash };
}
