import { failureOf, isNodeError, type Node, NodeFailure } from '#chains/nodes/node.ts';
import type { ChainTransfer } from '#chains/transfer.ts';
import { addFinding } from '#storage/repositories/chains/findings.ts';
import { depositFinding } from '../../settlement/deposit-finding.ts';
import { disagreements } from '../metrics.ts';
import type { Watcher } from '../watcher.ts';
import { type LookedUp, lookUpDeposits, toWatched } from './look-up-deposits.ts';
import { readHeads } from './read-heads.ts';

/**
 * The deposits that the check node shows like the primary node, in the same block; all of them if there is no check
 * node. If the two contradict each other about a token, a proof from the block itself decides, whichever node
 * supplies it: then the deposit is returned as the right node shows it.
 * @param primary The node that has shown them.
 */
export async function confirmByCheckNode(
  watcher: Watcher,
  primary: Node,
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
    const confirmed: LookedUp[] = [];
    for (const shown of reached) {
      const response = responses.find(({ deposit }) => deposit.id === shown.deposit.id);
      // The check node may be able to read it later; so far it has not contradicted the primary node.
      if (response === undefined || response.report.status === 'unreadable') continue;
      if (isAlike(shown, response)) confirmed.push(shown);
      else confirmed.push(...(await decide(watcher, { primary, check }, shown, response)));
    }
    nodes.reportSuccess(check.id);
    return confirmed;
  } catch (error) {
    const failure = failureOf(check, error);
    if (failure === undefined) throw error;
    if (check !== null) nodes.reportFailure(check.id, failure);
    // Nothing becomes final without the check node; an alert fires when it stays silent.
    log.warn({ err: error, chain: chain.id }, 'check node does not answer');
    return [];
  }
}

function isAlike(one: LookedUp, other: LookedUp): boolean {
  if (one.report.status !== 'included' || other.report.status !== 'included') return false;
  if (one.report.block.hash !== other.report.block.hash) return false;
  return isSame(shownBy(one), shownBy(other));
}

/** The transfer that a report has at the deposit's position. */
function shownBy({ transfer, other }: LookedUp): ChainTransfer | undefined {
  return transfer ?? other;
}

function isSame(one: ChainTransfer | undefined, other: ChainTransfer | undefined): boolean {
  return one?.address === other?.address && one?.tokenAmount === other?.tokenAmount;
}

interface Contradicting {
  readonly primary: Node;
  readonly check: Node;
}

/**
 * Adds a finding, which names the wrong node if the block proves which one it is.
 * @returns The deposit as the primary node shows it, if that is proven; as the check node shows it, if that is proven
 * and recorded like that. Otherwise nothing: the deposit waits.
 */
async function decide(
  watcher: Watcher,
  nodes: Contradicting,
  shown: LookedUp,
  response: LookedUp,
): Promise<LookedUp[]> {
  const { primary, check } = nodes;
  const fact = await prove(watcher, nodes, shown, response);
  const isPrimaryRight = fact !== null && isSame(fact, shownBy(shown));
  const isCheckRight = fact !== null && isSame(fact, shownBy(response));
  const wrong = isPrimaryRight ? check : isCheckRight ? primary : null;
  await reportDisagreement(watcher, nodes, shown, response, wrong);
  if (isPrimaryRight) return [shown];
  return isCheckRight && response.transfer !== undefined ? [response] : [];
}

/**
 * The transfer at the deposit's position, as proven by the block that both nodes have at its height.
 * @returns undefined if there is proof that it does not exist; null if there is no proof.
 */
async function prove(
  { adapter }: Watcher,
  { primary, check }: Contradicting,
  { deposit, report, ...shown }: LookedUp,
  response: LookedUp,
): Promise<ChainTransfer | undefined | null> {
  if (deposit.contract === null || report.status !== 'included') return null;
  const { block } = report;
  if (block.hash !== (deposit.block_hash ?? block.hash)) return null;
  if ((await adapter.readBlock(check, block.height))?.hash !== block.hash) return null;
  const { network, address } = toWatched(deposit);
  const others = [shown.other, response.other].flatMap(other => other?.address ?? []);
  const watch = [address, ...others].map(each => ({ network, address: each }));
  for (const node of [check, primary]) {
    const proven = await orNull(async () => adapter.proveTransfers?.(node, block, watch));
    if (proven == null) continue;
    return proven.find(
      ({ transactionHash: hash, position }) =>
        hash === deposit.transaction_hash && position === deposit.position,
    );
  }
  return null;
}

/** Returns null if a node fails. */
async function orNull<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask();
  } catch (error) {
    if (!isNodeError(error)) throw error;
    return null;
  }
}

async function reportDisagreement(
  { chain, clock, db, log }: Watcher,
  { primary, check }: Contradicting,
  shown: LookedUp,
  response: LookedUp,
  wrong: Node | null,
): Promise<void> {
  const { deposit } = shown;
  const both = `The primary node ${primary.label} shows it ${describe(shown)}, the check node ${check.label}: ${describe(response)}.`;
  const proof =
    wrong === null ? '' : ` The receipts of the block prove that ${wrong.label} is wrong.`;
  const finding = depositFinding(deposit, {
    chain: chain.id,
    kind: 'disagreement',
    detail: both + proof,
  });
  const isNew = await addFinding(db, finding, new Date(clock()));
  if (!isNew) return;
  const { label } = wrong ?? check;
  disagreements.inc({ chain: chain.id, node: label });
  log.error({ chain: chain.id, node: label, depositId: deposit.id }, 'nodes disagree');
}

function describe(found: LookedUp): string {
  const { report } = found;
  if (report.status !== 'included') return report.status;
  const shown = shownBy(found);
  const content =
    shown === undefined ? 'without this transfer' : `as ${shown.tokenAmount} to ${shown.address}`;
  return `in block ${report.block.hash} ${content}`;
}
