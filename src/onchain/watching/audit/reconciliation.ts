import type { BaseLogger } from 'pino';
import type { ChainAdapter } from '#chains/adapter.ts';
import { adapterOf } from '#chains/adapters.ts';
import { chainOf, isChainId } from '#chains/chain-list.ts';
import { isNodeError, type Node, NodeFailure } from '#chains/nodes/node.ts';
import type { Keyring } from '#crypto/keyring.ts';
import type { Database } from '#storage/database/connection.ts';
import {
  addDailyAudits,
  advanceAudit,
  type ClaimedAudit,
  claimAudit,
} from '#storage/repositories/chains/audits.ts';
import type { Clock } from '#time/clock.ts';
import { endOfDay, utcDay } from '#time/days.ts';
import { findBlockAt } from '../find-block.ts';
import { openChainNodes } from '../open-chain-nodes.ts';
import { auditAndReport } from './report-differences.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Hour of the day, in UTC, from which the day before is audited: sales are lowest then. */
export const QUIET_HOUR = 3;
/** How long a worker works on one audit before it yields to other work, in milliseconds. */
const WORK_MS = 20_000;
/** Time after which a worker that claimed an audit counts as dead, in milliseconds. */
const CLAIM_MS = 5 * MINUTE_MS;
/** Pause of an audit whose node failed, in milliseconds. */
const RETRY_MS = 30 * MINUTE_MS;

export interface AuditDependencies {
  readonly db: Database;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly logger: Pick<BaseLogger, 'error' | 'warn' | 'info'>;
  /** Refuses nodes of private chains. */
  readonly isProduction: boolean;
}

/**
 * From a quiet hour on, compares the blocks of the day before with the ledger, through the check node of each chain
 * that has one. Each call takes one part of one network; if a worker dies, another one continues.
 * @returns Whether there was anything to do.
 */
export async function reconcileDays(
  dependencies: AuditDependencies,
  signal: AbortSignal,
): Promise<boolean> {
  const { db, clock, logger } = dependencies;
  const now = new Date(clock());
  if (now.getUTCHours() < QUIET_HOUR) return false;
  await addDailyAudits(db, utcDay(new Date(now.getTime() - DAY_MS)));
  const audit = await claimAudit(db, now, new Date(now.getTime() + CLAIM_MS));
  if (audit === undefined || !isChainId(audit.chain)) return false;
  const progress: Progress = {
    nextHeight: audit.nextHeight,
    toHeight: audit.toHeight,
    differences: 0,
  };
  let notBefore: Date | null = null;
  try {
    await continueAudit(dependencies, audit, progress, signal);
  } catch (error) {
    if (!isNodeError(error)) throw error;
    logger.warn({ err: error, network: audit.blockchainId }, 'audit waits for the check node');
    notBefore = new Date(clock() + RETRY_MS);
  }
  const { nextHeight, toHeight, differences } = progress;
  const isDone = nextHeight !== null && toHeight !== null && nextHeight > toHeight;
  await advanceAudit(db, audit, {
    ...progress,
    notBefore,
    doneAt: isDone ? new Date(clock()) : null,
  });
  const { blockchainId: network, day } = audit;
  if (differences > 0) logger.error({ network, day, differences }, 'ledger and chain differ');
  if (isDone) logger.info({ network, day, through: toHeight }, 'day audited');
  return true;
}

/** How far an audit has come. It is kept even if the node fails. */
interface Progress {
  nextHeight: number | null;
  toHeight: number | null;
  differences: number;
}

async function continueAudit(
  dependencies: AuditDependencies,
  audit: ClaimedAudit,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const { db, clock } = dependencies;
  const { blockchainId: id, chain: chainId } = audit;
  if (!isChainId(chainId)) throw new Error(`there is no chain ${chainId}`);
  const chain = chainOf(chainId);
  const adapter = adapterOf(chain);
  const nodes = openChainNodes(chain, adapter, { ...dependencies, isBrief: true });
  try {
    await nodes.refresh();
    const node = await nodes.check(signal);
    if (node === null) throw new NodeFailure(`${chainId} has no check node that answers`);
    const { from, to } = await findRange(adapter, node, audit);
    Object.assign(progress, { nextHeight: from, toHeight: to });
    const until = clock() + WORK_MS;
    for (let next = from; next <= to && clock() < until && !signal.aborted; ) {
      const subject = { db, adapter, node, network: { id, chain: chainId } };
      const part = await auditAndReport(subject, { from: next, to }, clock);
      next = part.through + 1;
      progress.nextHeight = next;
      progress.differences += part.differences.length;
    }
  } finally {
    await nodes.close();
  }
}

/** The blocks of the day that are not compared yet. */
async function findRange(
  adapter: ChainAdapter,
  node: Node,
  { day, nextHeight, toHeight, previousHeight }: ClaimedAudit,
): Promise<{ readonly from: number; readonly to: number }> {
  if (nextHeight !== null && toHeight !== null) return { from: nextHeight, to: toHeight };
  const { tip, finalHeight } = await adapter.readHeads(node, null);
  const end = endOfDay(day).getTime();
  const last = await findBlockAt(adapter, node, new Date(end - 1), tip);
  const final = finalHeight ?? tip.height - 1;
  if (last.height > final || last.height === tip.height) {
    throw new NodeFailure(`${node.label} has not got beyond ${day} yet`);
  }
  const before = await findBlockAt(adapter, node, new Date(end - DAY_MS - 1), tip);
  // Bitcoin's block times may run backwards: blocks between two days belong to the second.
  const from = Math.min(before.height, previousHeight ?? before.height) + 1;
  return { from, to: last.height };
}
