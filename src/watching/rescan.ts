import type { ChainTransfer } from '../chains/adapter.ts';
import type { Rescan } from '../database/watching-tables.ts';
import { advanceRescan, findOpenRescan } from '../repositories/rescans.ts';
import { listConfiguredAddresses } from '../repositories/watch-list.ts';
import { NO_POLL } from './occurred-at.ts';
import { askedSince, recordSeen } from './record-seen.ts';
import { type Pass, scanRange } from './scan.ts';
import { toWatched } from './watch-list.ts';
import type { Watcher } from './watcher.ts';

/**
 * Goes on with the oldest rescan of the chain: scans what the adapter takes at once, for every configured
 * address of the network. Dust is not counted: nobody knows whether it was before.
 * @returns Whether there was one.
 * @throws NodeFailure, LeaseLost.
 */
export async function continueRescan(
  watcher: Watcher,
  { node, tips, signal }: Omit<Pass, 'watch' | 'askedSince'>,
): Promise<boolean> {
  const { chain, db } = watcher;
  const rescan = await findOpenRescan(db, chain.id);
  if (rescan === undefined) return false;
  const watch = toWatched(await listConfiguredAddresses(db, rescan.blockchain_id));
  const to = Math.min(rescan.to_height, tips.tip);
  if (rescan.next_height > to) {
    await finish(watcher, rescan);
    return true;
  }
  // Where the node does not tell when that was, whatever was ever asked for counts.
  const first = await watcher.adapter.readBlock(node, rescan.next_height).catch(() => null);
  const since = askedSince(watcher, first?.time ?? new Date(0));
  await recordInternal(
    watcher,
    { node, watch, askedSince: since },
    { from: rescan.next_height, to },
  );
  await scanRange(
    watcher,
    { node, tips, watch, askedSince: since, signal },
    { from: rescan.next_height, to, parentHash: null },
    NO_POLL,
    (tx, through) =>
      advanceRescan(tx, rescan.id, {
        height: through.height + 1,
        doneAt: through.height >= to ? new Date(watcher.clock()) : null,
      }),
  );
  return true;
}

function finish({ clock, lease }: Watcher, { id, to_height: to }: Rescan): Promise<void> {
  return lease.write(tx => advanceRescan(tx, id, { height: to + 1, doneAt: new Date(clock()) }));
}

/** Blocks of a rescan that are traced: a trace costs more than everything else. */
export const TRACED_MAXIMUM = 20;

/** What contracts have sent in the native asset, where the node traces and the range is short. */
async function recordInternal(
  watcher: Watcher,
  { node, watch, askedSince: since }: Pick<Pass, 'node' | 'watch' | 'askedSince'>,
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
  await recordSeen(watcher, found, { last: NO_POLL, askedSince: since });
}
