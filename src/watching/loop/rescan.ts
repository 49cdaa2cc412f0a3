import type { ChainTransfer } from '../../chains/transfer.ts';
import type { Rescan } from '../../database/watching-tables.ts';
import { type Node, NodeFailure, RpcError } from '../../nodes/node.ts';
import { advanceRescan, findOpenRescan } from '../../repositories/chains/rescans.ts';
import { listConfiguredAddresses } from '../../repositories/chains/watch-list.ts';
import { toWatched } from '../watch-list.ts';
import type { Watcher } from '../watcher.ts';
import { NO_POLL } from './occurred-at.ts';
import { createPeriod } from './period.ts';
import { askedSince, recordSeen } from './record-seen.ts';
import { RETRY_EVERY_MS } from './retry-unapplied.ts';
import type { Round } from './round.ts';
import { type Pass, scanRange } from './scan.ts';

const DAY_MS = 24 * 60 * 60_000;

/** Reads old blocks again where an operator, or somebody who looked a payment up, has asked for it. */
export interface Rescans {
  /**
   * Goes on with the oldest rescan of the chain. Its blocks may be such as the node has no more, which must
   * not keep the chain from being watched: it waits then.
   * @returns Whether there was one.
   * @throws LeaseLost.
   */
  run(round: Round): Promise<boolean>;
}

export function createRescans(watcher: Watcher): Rescans {
  const { chain, clock, log } = watcher;
  const rests = createPeriod(clock, RETRY_EVERY_MS);
  return {
    async run(round) {
      if (!rests.isDue()) return false;
      try {
        return await continueRescan(watcher, round);
      } catch (error) {
        if (!(error instanceof NodeFailure || error instanceof RpcError)) throw error;
        log.warn({ err: error, chain: chain.id }, 'rescan waits for a node that can do it');
        rests.start();
        return false;
      }
    },
  };
}

/**
 * Scans what the adapter takes at once, for every configured address of the network. Dust is not counted:
 * nobody knows whether it was before.
 */
async function continueRescan(watcher: Watcher, { node, tips, signal }: Round): Promise<boolean> {
  const { chain, db } = watcher;
  const rescan = await findOpenRescan(db, chain.id);
  if (rescan === undefined) return false;
  const watch = toWatched(await listConfiguredAddresses(db, rescan.blockchain_id));
  const end = Math.min(rescan.to_height, tips.tip);
  const from = rescan.next_height;
  if (from > end) {
    await finish(watcher, rescan);
    return true;
  }
  // What was asked for counts by the times of the blocks, which must not be far apart.
  const to = Math.min(end, from + Math.floor(DAY_MS / chain.blockMs) - 1);
  const asked = await readTimes(watcher, node, { from, to });
  await recordInternal(watcher, { node, watch, ...asked }, { from, to });
  await scanRange(
    watcher,
    { node, tips, watch, ...asked, signal },
    { from, to, parentHash: null },
    NO_POLL,
    (tx, through) =>
      advanceRescan(tx, rescan.id, {
        height: through.height + 1,
        doneAt: through.height >= end ? new Date(watcher.clock()) : null,
      }),
  );
  return true;
}

/**
 * When transfers in these blocks were made. Where the node tells neither time, whatever was ever asked for
 * counts; where it tells one, a block that it has not is at most about a day away.
 */
async function readTimes(
  watcher: Watcher,
  node: Node,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<Pick<Pass, 'askedSince' | 'madeBy'>> {
  const timeOf = async (height: number) =>
    (await watcher.adapter.readBlock(node, height).catch(() => null))?.time.getTime();
  const [first, last] = [await timeOf(from), await timeOf(to)];
  const earliest = first ?? (last === undefined ? 0 : last - 2 * DAY_MS);
  const latest = last ?? (first === undefined ? undefined : first + 2 * DAY_MS);
  return {
    askedSince: askedSince(watcher, new Date(earliest)),
    madeBy: latest === undefined ? undefined : new Date(latest),
  };
}

function finish({ clock, lease }: Watcher, { id, to_height: to }: Rescan): Promise<void> {
  return lease.write(tx => advanceRescan(tx, id, { height: to + 1, doneAt: new Date(clock()) }));
}

/** Blocks of a rescan that are traced: a trace costs more than everything else. */
export const TRACED_MAXIMUM = 20;

/** What contracts have sent in the native asset, where the node traces and the range is short. */
async function recordInternal(
  watcher: Watcher,
  {
    node,
    watch,
    askedSince: since,
    madeBy,
  }: Pick<Pass, 'node' | 'watch' | 'askedSince' | 'madeBy'>,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  const { adapter } = watcher;
  const native = watch.filter(({ network }) => network.contract === null);
  if (adapter.internal === undefined || native.length === 0 || to - from >= TRACED_MAXIMUM) return;
  const found: ChainTransfer[] = [];
  for (let height = from; height <= to; height++) {
    const traced = await adapter.internal.trace(node, height, native);
    found.push(...(traced?.transfers ?? []));
  }
  await recordSeen(watcher, found, { last: NO_POLL, askedSince: since, madeBy });
}
