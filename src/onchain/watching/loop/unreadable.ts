import type { Scan, TransactionReport, Unreadable } from '#chains/adapter.ts';
import type { Node } from '#chains/nodes/node.ts';
import { newId } from '#crypto/new-id.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { Finding } from '#storage/database/watching-tables.ts';
import { addFinding, resolveFinding } from '#storage/repositories/chains/findings.ts';
import type { UnsettledDeposit } from '#storage/repositories/deposits/watched-deposits.ts';
import type { Watcher } from '../watcher.ts';
import { countDust } from './count-dust.ts';
import { toWatched } from './look-up-deposits.ts';
import { NO_POLL } from './occurred-at.ts';
import { listConcerned, listInTurn } from './open-findings.ts';
import { askedSince, recordSeen } from './record-seen.ts';
import { unlessNodeFails } from './unless-node-fails.ts';

/** Kind of the findings. */
export const UNREADABLE = 'unreadable';
const SECOND_LOOK = { isSecondLook: true } as const;

/** Maximum number of findings of a block that name no watched address; more become a single one for the block. */
const NAMELESS_MAXIMUM = 5;

/**
 * The result for a transaction that is gone from the mempool. If it gets into a block after all, that block is
 * scanned.
 */
const NOWHERE = { transfers: [], block: null };

/** How many findings are retried at a time; the next time it is the next ones. */
const RETRIED_MAXIMUM = 20;

/** Longest detail of a finding, in characters: a node's own message may be long. */
const DETAIL_MAXIMUM = 500;

/** The report that a seen deposit cannot be read any more. */
export function toUnreadable(deposit: UnsettledDeposit, detail: string): Unreadable {
  const { transaction_hash: transactionHash, block_height: height } = deposit;
  return { transactionHash, height, watched: [toWatched(deposit)], detail };
}

/**
 * Adds findings of elements that cannot be read, one for each watched address that they may have paid: payments at
 * these addresses are held until they are resolved. A finding that is open already is not repeated.
 */
export async function reportUnreadable(
  db: Connection,
  chain: string,
  unreadable: readonly Unreadable[],
  now: Date,
): Promise<void> {
  const nameless = unreadable.filter(({ watched }) => watched.length === 0);
  const gathered = [...Map.groupBy(nameless, ({ height }) => height)].flatMap(gather);
  const named = unreadable.filter(({ watched }) => watched.length > 0);
  for (const { transactionHash, height, sinceHeight, watched, detail } of [...named, ...gathered]) {
    const found = {
      chain,
      kind: UNREADABLE,
      transactionHash,
      height,
      sinceHeight: sinceHeight ?? null,
    };
    for (const each of watched.length === 0 ? [null] : watched) {
      const place = { blockchainId: each?.network.id ?? null, address: each?.address ?? null };
      await addFinding(
        db,
        { id: newId(), ...found, ...place, detail: detail.slice(0, DETAIL_MAXIMUM) },
        now,
      );
    }
  }
}

/** Merges many findings into one: a block may be full of an unknown kind of transaction. */
function gather([height, own]: [number | null, readonly Unreadable[]]): readonly Unreadable[] {
  const [first] = own;
  if (first === undefined || own.length <= NAMELESS_MAXIMUM) return own;
  const detail = `${own.length} elements; the first one, ${first.transactionHash}: ${first.detail}`;
  return [{ transactionHash: null, height, watched: [], detail }];
}

/**
 * Tries again to read elements that could not be read. If that succeeds, records their transfers unless they are
 * dust, and resolves their findings.
 * @throws LeaseLost.
 */
export async function retryUnreadable(watcher: Watcher, node: Node): Promise<void> {
  const { chain, log } = watcher;
  for (const finding of await listInTurn(watcher, UNREADABLE, RETRIED_MAXIMUM)) {
    const work = () => readAgain(watcher, node, finding);
    const message = 'what cannot be read is not there either';
    await unlessNodeFails(log, { chain: chain.id }, message, work);
  }
}

/** Records the transfers and resolves the finding if the element can be read by now. */
async function readAgain(watcher: Watcher, node: Node, finding: Finding): Promise<void> {
  const { adapter, clock } = watcher;
  const { transaction_hash: transactionHash, height, since_height: below } = finding;
  const { found_at: seenAt } = finding;
  const watch = await listConcerned(watcher, finding);
  const read = await readTransfers();
  if (read === undefined) return;
  const { transfers, block } = read;
  const madeBy = block?.time ?? new Date(clock());
  const since = askedSince(watcher, madeBy);
  const timing = { last: NO_POLL, seenAt, askedSince: since, madeBy };
  await recordSeen(watcher, transfers, timing, async (tx, dust) => {
    // On other chains the second look counts dust, which happens once.
    if (adapter.looksOnce === true) await countDust(watcher, tx, dust);
    await resolveFinding(tx, finding.id, new Date(clock()));
  });

  async function readTransfers() {
    if (transactionHash !== null) {
      const request = { transactionHash, watch, inputs: null, blockHash: null };
      const report: TransactionReport = await adapter.lookUp(node, request);
      if (report.status === 'failed') return { transfers: [], block: report.block };
      const isGone = report.status === 'unknown' || report.status === 'replaced';
      if (isGone && height === null) return NOWHERE;
      if (report.status !== 'included') return undefined;
      // On other chains its block may have shown a transfer that the transaction itself lacks.
      if (adapter.looksOnce === true) return report;
      const { unreadable = [] } = await scanBlocks(report.block.height, null);
      const isRead = unreadable.every(each => each.transactionHash !== transactionHash);
      return isRead ? report : undefined;
    }
    // An element of a mempool's list is in no block that could be read again.
    if (height === null) return undefined;
    const { transfers, through, unreadable = [] } = await scanBlocks(height, below);
    const isRead = unreadable.length === 0 && through.height >= height;
    return isRead ? { transfers, block: through } : undefined;
  }

  /** Scans the block at `to`, or all above `below` up to it, which were scanned before. */
  function scanBlocks(to: number, below: number | null): Promise<Scan> {
    const from = below === null ? to : below + 1;
    const range = {
      from,
      to,
      undoableFrom: to,
      parentHash: null,
      ...(below !== null && SECOND_LOOK),
    };
    return adapter.scan(node, { ...range, watch });
  }
}
