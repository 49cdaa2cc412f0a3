import { newId } from '../../crypto/new-id.ts';
import { failureOf, type Node } from '../../nodes/node.ts';
import { addFinding } from '../../repositories/chains/findings.ts';
import { disagreements } from '../metrics.ts';
import type { Watcher } from '../watcher.ts';
import { lookUpDeposits, type Placed } from './look-up-deposits.ts';
import { readHeads } from './read-heads.ts';

/** Those that the check node shows as the primary node does, in the same block; all of them where there is none. */
export async function confirmByCheckNode(
  watcher: Watcher,
  placed: readonly Placed[],
  signal: AbortSignal,
): Promise<readonly Placed[]> {
  const { log, nodes, chain } = watcher;
  if (placed.length === 0) return placed;
  let check: Node | null = null;
  try {
    check = await nodes.check(signal);
    if (check === null) return placed;
    const { tip } = await readHeads(watcher, check, null, signal);
    const reached = placed.filter(({ deposit }) => (deposit.block_height ?? 0) <= tip.height);
    const responses = await lookUpDeposits(
      watcher,
      check,
      reached.map(({ deposit }) => deposit),
    );
    const same: Placed[] = [];
    for (const shown of reached) {
      const response = responses.find(({ deposit }) => deposit.id === shown.deposit.id);
      if (response !== undefined && isAlike(shown, response)) same.push(shown);
      else if (response !== undefined) await reportDisagreement(watcher, check, shown, response);
    }
    nodes.reportSuccess(check.id);
    return same;
  } catch (error) {
    const failure = failureOf(check, error);
    if (failure === undefined) throw error;
    if (check !== null) nodes.reportFailure(check.id, failure);
    // Nothing becomes final without it; an alert tells when it stays silent.
    log.warn({ err: error, chain: chain.id }, 'check node does not answer');
    return [];
  }
}

function isAlike(one: Placed, other: Placed): boolean {
  if (one.report.status !== 'included' || other.report.status !== 'included') return false;
  if (one.report.block.hash !== other.report.block.hash) return false;
  const [own, its] = [one.transfer ?? one.other, other.transfer ?? other.other];
  return own?.address === its?.address && own?.tokenAmount === its?.tokenAmount;
}

async function reportDisagreement(
  { chain, clock, db, log }: Watcher,
  check: Node,
  shown: Placed,
  response: Placed,
): Promise<void> {
  const { deposit } = shown;
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
      detail: `The primary node shows it ${describe(shown)}, the check node ${check.label}: ${describe(response)}.`,
    },
    new Date(clock()),
  );
  if (!isNew) return;
  disagreements.inc({ chain: chain.id, node: check.label });
  log.error({ chain: chain.id, node: check.label, depositId: deposit.id }, 'nodes disagree');
}

function describe({ report, transfer, other }: Placed): string {
  if (report.status !== 'included') return report.status;
  const told = transfer ?? other;
  const content =
    told === undefined ? 'without this transfer' : `as ${told.tokenAmount} to ${told.address}`;
  return `in block ${report.block.hash} ${content}`;
}
