import { audited, type Operator } from '#accounts/audit/audited-change.ts';
import type { Chain } from '#chains/chain-list.ts';
import { isNodeError } from '#chains/nodes/node.ts';
import { settingsOf } from '#chains/nodes/node-settings.ts';
import { openNode } from '#chains/nodes/open-node.ts';
import type { ChainTransfer } from '#chains/transfer.ts';
import type { Database } from '#storage/database/connection.ts';
import { addNodeCalls } from '#storage/repositories/chains/node-calls.ts';
import { listNodes } from '#storage/repositories/chains/nodes.ts';
import { correctFinal } from '../../settlement/observe-transfer.ts';
import { NO_POLL, occurredAt } from '../loop/occurred-at.ts';
import { toObserved } from '../loop/record-transfers.ts';
import { CommandRefused } from '../operate/command-refused.ts';
import { adapterFor, type NodeTools, requireChain } from '../operate/node-tools.ts';
import { type BlockRange, requireRange, requireSettled } from '../operate/operate-chain.ts';
import { verifyIdentity } from '../verify-identity.ts';
import type { Difference } from './reconcile-blocks.ts';
import { auditAndReport } from './report-differences.ts';

/** Timeout of an audit by a command, in milliseconds. */
const TIMEOUT_MS = 30 * 60_000;

/** The result of an audit. */
interface NetworkAudit {
  readonly blockchainId: string;
  readonly from: number;
  readonly to: number;
  /** Label and role of the node that was asked. */
  readonly node: string;
  readonly role: 'check' | 'primary';
  readonly transfers: number;
  readonly differences: readonly Difference[];
  /** How many final deposits without a payment were corrected; 0 unless asked for. */
  readonly corrected: number;
}

export interface AuditedBlocks extends BlockRange {
  /** Whether final deposits without a payment are corrected if they differ from the chain. */
  readonly corrects?: boolean;
}

/**
 * Scans final blocks again, through another node than the watcher's if there is one, and compares them with the
 * ledger. Differences become findings. Nothing is credited, unless corrections are asked for and a payment waits for
 * the corrected deposit.
 * @param report Called with the number of blocks that are done, and of all.
 * @throws CommandRefused for an unknown network, one that no node settles, a range that is empty, too long or not
 * final, and a node that does not answer.
 */
export async function auditNetwork(
  operator: Operator & { readonly db: Database },
  tools: NodeTools,
  networkId: string,
  { from, to, corrects = false }: AuditedBlocks,
  report: (done: number, total: number) => void = () => undefined,
): Promise<NetworkAudit> {
  const { db, clock } = operator;
  const network = await requireSettled(db, networkId);
  requireRange({ from, to }, 'audit');
  const chain = requireChain(network.chain);
  const adapter = adapterFor(tools, chain);
  const nodes = await listNodes(db, chain.id);
  // The last primary node is the one that watchers use least.
  const row = nodes.find(({ role }) => role === 'check') ?? nodes.at(-1);
  if (row === undefined) throw new CommandRefused(`${chain.id} has no node.`);
  const open = openNode(settingsOf(tools.keyring, row), { clock });
  const node = open.within(AbortSignal.timeout(TIMEOUT_MS));
  const differences: Difference[] = [];
  let transfers = 0;
  let corrected = 0;
  /** Closes the node and records the number of its calls. */
  const end = async () => {
    await open.close();
    await addNodeCalls(db, [{ node: row.id, calls: open.calls() }], new Date(clock()));
  };
  try {
    const { isProduction } = tools;
    await verifyIdentity(adapter, chain, node, { identity: null, isProduction });
    const { tip, finalHeight } = await adapter.readHeads(node, null);
    const final = finalHeight ?? tip.height - 1;
    if (to > final) {
      throw new CommandRefused(`The newest final block that ${row.label} shows is ${final}.`);
    }
    for (let next = from; next <= to; ) {
      const part = await auditAndReport({ db, adapter, node, network }, { from: next, to }, clock);
      if (corrects) corrected += await correct(operator, chain, part.correctable);
      differences.push(...part.differences);
      transfers += part.transfers;
      next = part.through + 1;
      report(next - from, to - from + 1);
    }
  } catch (error) {
    // The operator has to see the first error, not one of the cleanup.
    await end().catch(() => undefined);
    if (!isNodeError(error)) throw error;
    throw new CommandRefused(`${row.label} cannot be asked: ${error.message}.`);
  }
  await end();
  await audited(operator, 'network.audit', async () => ({
    result: undefined,
    objectId: networkId,
    detail: { from, to, node: row.label, transfers, differences: differences.length, corrected },
  }));
  const { label: asked, role } = row;
  const found = { transfers, differences, corrected };
  return { blockchainId: networkId, from, to, node: asked, role, ...found };
}

/** @returns How many deposits were corrected. */
async function correct(
  operator: Operator,
  chain: Chain,
  transfers: readonly ChainTransfer[],
): Promise<number> {
  let corrected = 0;
  for (const transfer of transfers) {
    await audited(operator, 'deposit.correct', async (tx, now) => {
      // The deposit keeps the time of its first report.
      const shownNow = toObserved(transfer, 'final', occurredAt(chain, transfer, NO_POLL, now));
      const deposit = await correctFinal(tx, shownNow, now, operator.actor);
      if (deposit !== undefined) corrected += 1;
      const { blockchainId, transactionHash, position, address, tokenAmount } = transfer;
      const shown = { blockchainId, transactionHash, position, address };
      const detail = { ...shown, tokenAmount: `${tokenAmount}` };
      return { result: undefined, objectId: deposit?.id ?? transactionHash, detail };
    });
  }
  return corrected;
}
