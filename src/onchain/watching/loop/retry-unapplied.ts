import type { Node } from '#chains/nodes/node.ts';
import { listOpenFindings, resolveFinding } from '#storage/repositories/chains/findings.ts';
import { listConfiguredAddresses } from '#storage/repositories/chains/watch-list.ts';
import { findDeposits } from '#storage/repositories/deposits/deposits.ts';
import { toWatched } from '../watch-list.ts';
import type { Watcher } from '../watcher.ts';
import { NO_POLL, occurredAt } from './occurred-at.ts';
import { recordTransfers, toObserved } from './record-transfers.ts';
import { unlessNodeFails } from './unless-node-fails.ts';

/** How often transfers that the database has refused are tried again, in milliseconds. */
export const RETRY_EVERY_MS = 60_000;

const FINDINGS_MAXIMUM = 100;

/**
 * Tries again to record transfers that the database has refused, and resolves the findings of those that it accepts.
 * @throws LeaseLost.
 */
export async function retryUnapplied(watcher: Watcher, node: Node): Promise<void> {
  const { adapter, chain, clock, db, log } = watcher;
  const open = await listOpenFindings(db, FINDINGS_MAXIMUM, { chain: chain.id, kind: 'unapplied' });
  for (const finding of open) {
    const { blockchain_id: blockchainId, transaction_hash: transactionHash, position } = finding;
    if (blockchainId === null || transactionHash === null || position === null) continue;
    const watch = toWatched(await listConfiguredAddresses(db, blockchainId));
    const request = { transactionHash, watch, inputs: null, blockHash: null };
    const message = 'refused transfer cannot be looked up';
    const work = () => adapter.lookUp(node, request);
    const report = await unlessNodeFails(log, { chain: chain.id }, message, work);
    if (report?.status !== 'included') continue;
    const transfer = report.transfers.find(
      each => each.blockchainId === blockchainId && each.position === position,
    );
    if (transfer === undefined) continue;
    const at = occurredAt(chain, transfer, NO_POLL, finding.found_at);
    await recordTransfers(watcher, [toObserved(transfer, 'seen', at)]);
    const [deposit] = await findDeposits(db, [{ blockchainId, transactionHash, position }]);
    if (deposit !== undefined) await resolveFinding(db, finding.id, new Date(clock()));
  }
}
