import { failureOf, type Node, NodeFailure } from '../../nodes/node.ts';
import { addFinding } from '../../repositories/chains/findings.ts';
import { depositFinding } from '../../settlement/deposit-finding.ts';
import { disagreements } from '../metrics.ts';
import type { Watcher } from '../watcher.ts';
import { type LookedUp, lookUpDeposits } from './look-up-deposits.ts';
import { readHeads } from './read-heads.ts';

/** The deposits that the check node shows like the primary node, in the same block; all of them without a check node. */
export async function confirmByCheckNode(
  watcher: Watcher,
  found: readonly LookedUp[],
  signal: AbortSignal,
): Promise<readonly LookedUp[]> {
  const { log, nodes, chain } = watcher;
  if (found.length === 0) return found;
  let check: Node | null = null;
  try {
    check = await nodes.check(signal);
    if (check === null) return found;
    const { tip } = await readHeads(watcher, check, null, signal);
    const reached = found.filter(({ deposit }) => (deposit.block_height ?? 0) <= tip.height);
    const responses = await lookUpDeposits(
      watcher,
      check,
      reached.map(({ deposit }) => deposit),
    );
    const details = responses.flatMap(({ report }) =>
      report.status === 'unreadable' ? [report.detail] : [],
    );
    if (details[0] !== undefined && details.length === responses.length) {
      throw new NodeFailure(details[0]);
    }
    const same: LookedUp[] = [];
    for (const shown of reached) {
      const response = responses.find(({ deposit }) => deposit.id === shown.deposit.id);
      // What it cannot read now it may show in a later look: it has not shown anything else.
      if (response === undefined || response.report.status === 'unreadable') continue;
      if (isAlike(shown, response)) same.push(shown);
      else await reportDisagreement(watcher, check, shown, response);
    }
    nodes.reportSuccess(check.id);
    return same;
  } catch (error) {
    const failure = failureOf(check, error);
    if (failure === undefined) throw error;
    if (check !== null) nodes.reportFailure(check.id, failure);
    // Nothing becomes final without it; an alert fires when it stays silent.
    log.warn({ err: error, chain: chain.id }, 'check node does not answer');
    return [];
  }
}

function isAlike(one: LookedUp, other: LookedUp): boolean {
  if (one.report.status !== 'included' || other.report.status !== 'included') return false;
  if (one.report.block.hash !== other.report.block.hash) return false;
  const [own, its] = [one.transfer ?? one.other, other.transfer ?? other.other];
  return own?.address === its?.address && own?.tokenAmount === its?.tokenAmount;
}

async function reportDisagreement(
  { chain, clock, db, log }: Watcher,
  check: Node,
  shown: LookedUp,
  response: LookedUp,
): Promise<void> {
  const { deposit } = shown;
  const detail = `The primary node shows it ${describe(shown)}, the check node ${check.label}: ${describe(response)}.`;
  const finding = depositFinding(deposit, { chain: chain.id, kind: 'disagreement', detail });
  const isNew = await addFinding(db, finding, new Date(clock()));
  if (!isNew) return;
  disagreements.inc({ chain: chain.id, node: check.label });
  log.error({ chain: chain.id, node: check.label, depositId: deposit.id }, 'nodes disagree');
}

function describe({ report, transfer, other }: LookedUp): string {
  if (report.status !== 'included') return report.status;
  const shown = transfer ?? other;
  const content =
    shown === undefined ? 'without this transfer' : `as ${shown.tokenAmount} to ${shown.address}`;
  return `in block ${report.block.hash} ${content}`;
}
