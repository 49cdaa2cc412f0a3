import { newId } from '../../crypto/new-id.ts';
import { type Node, NodeFailure, RpcError } from '../../nodes/node.ts';
import { addFinding } from '../../repositories/findings.ts';
import { disagreements } from '../metrics.ts';
import type { Watcher } from '../watcher.ts';
import { lookUpDeposits, type Placed } from './look-up-deposits.ts';
import { readHeads } from './read-heads.ts';

/** Those that the check node shows in the same block; all of them where there is none. */
export async function confirmByCheckNode(
  watcher: Watcher,
  placed: readonly Placed[],
  signal: AbortSignal,
): Promise<readonly Placed[]> {
  const { log, nodes, chain } = watcher;
  if (placed.length === 0) return placed;
  try {
    const check = await nodes.check(signal);
    if (check === null) return placed;
    const { tip } = await readHeads(watcher, check, null, signal);
    const reached = placed.filter(({ deposit }) => (deposit.block_height ?? 0) <= tip.height);
    const answers = await lookUpDeposits(
      watcher,
      check,
      reached.map(({ deposit }) => deposit),
    );
    const same = answers.filter(
      ({ deposit, report, transfer }) =>
        report.status === 'included' &&
        report.block.hash === deposit.block_hash &&
        transfer !== undefined,
    );
    for (const answer of answers) {
      if (!same.includes(answer)) await reportDisagreement(watcher, check, answer);
    }
    return same;
  } catch (error) {
    if (!(error instanceof NodeFailure || error instanceof RpcError)) throw error;
    // Nothing becomes final without it; an alert tells when it stays silent.
    log.warn({ err: error, chain: chain.id }, 'check node does not answer');
    return [];
  }
}

async function reportDisagreement(
  { chain, clock, db, log }: Watcher,
  check: Node,
  { deposit, report }: Placed,
): Promise<void> {
  const found =
    report.status === 'included'
      ? `in block ${report.block.hash}, ${report.transfers.length} transfers`
      : report.status;
  const isNew = await addFinding(
    db,
    {
      id: newId(),
      chain: chain.id,
      kind: 'disagreement',
      blockchainId: deposit.blockchain_id,
      transactionHash: deposit.transaction_hash,
      position: deposit.position,
      address: deposit.address,
      amount: BigInt(deposit.token_amount),
      height: deposit.block_height,
      detail: `The primary node shows it in block ${deposit.block_hash}, the check node ${check.label}: ${found}.`,
    },
    new Date(clock()),
  );
  if (!isNew) return;
  disagreements.inc({ chain: chain.id, node: check.label });
  log.error({ chain: chain.id, node: check.label, depositId: deposit.id }, 'nodes disagree');
}
