import type { Node } from '#chains/nodes/node.ts';
import type { ChainTransfer, WatchedAddress } from '#chains/transfer.ts';
import type { Rescan } from '#storage/database/watching-tables.ts';
import { advanceRescan, findOpenRescan } from '#storage/repositories/chains/rescans.ts';
import { listConfiguredAddresses } from '#storage/repositories/chains/watch-list.ts';
import { nativeAddresses, toWatched } from '../watch-list.ts';
import type { Watcher } from '../watcher.ts';
import { NO_POLL } from './occurred-at.ts';
import { createPeriod } from './period.ts';
import { askedSince, recordSeen } from './record-seen.ts';
import { RETRY_EVERY_MS } from './retry-unapplied.ts';
import type { Round } from './round.ts';
import { type Pass, scanParts, scanRange } from './scan.ts';
import { unlessNodeFails } from './unless-node-fails.ts';

const DAY_MS = 24 * 60 * 60_000;

/**
 * Continues the oldest rescan of the chain, which an operator or a look-up has requested. If the node fails, for
 * instance because it has deleted the blocks, the rescan waits. The chain is still watched, and other rescans go on.
 * @returns Whether there was one.
 * @throws LeaseLost.
 */
export type Rescans = (round: Round) => Promise<boolean>;

export function createRescans(watcher: Watcher): Rescans {
  const { chain, clock, log } = watcher;
  const rests = createPeriod(clock, RETRY_EVERY_MS);
  /** Rescans that wait until their pause is over. */
  let waiting: Rescan['id'][] = [];
  return async round => {
    if (waiting.length > 0 && rests.isDue()) waiting = [];
    const rescan = await findOpenRescan(watcher.db, chain.id, waiting);
    if (rescan === undefined) return false;
    const message = 'rescan waits for a node that can do it';
    const work = () => continueRescan(watcher, rescan, round).then(() => true);
    const hasRescanned = await unlessNodeFails(log, { chain: chain.id }, message, work);
    if (hasRescanned !== undefined) return true;
    if (waiting.length === 0) rests.start();
    waiting.push(rescan.id);
    return false;
  };
}

/**
 * Scans as many blocks as the adapter takes at once, for every configured address of the network. Dust is not
 * counted, since it may have been counted before.
 */
async function continueRescan(
  watcher: Watcher,
  rescan: Rescan,
  { node, heads, signal }: Round,
): Promise<void> {
  const { chain, db } = watcher;
  const watch = toWatched(await listConfiguredAddresses(db, rescan.blockchain_id));
  const end = Math.min(rescan.to_height, heads.tip.height);
  const from = rescan.next_height;
  if (from > end) {
    const done = { height: rescan.to_height + 1, doneAt: new Date(watcher.clock()) };
    await watcher.lease.write(tx => advanceRescan(tx, rescan.id, done));
    return;
  }
  // The times of the blocks decide which amounts count as requested, so they must not be far apart.
  const to = Math.min(end, from + Math.floor(DAY_MS / chain.blockMs) - 1);
  const asked = await readTimes(watcher, node, { from, to });
  await recordInternal(watcher, { node, watch, ...asked }, { from, to });
  await scanRange(
    watcher,
    { node, heads, watch, ...asked, signal },
    { from, to, parentHash: null },
    NO_POLL,
    (tx, { through }) =>
      advanceRescan(tx, rescan.id, {
        height: through.height + 1,
        doneAt: through.height >= end ? new Date(watcher.clock()) : null,
      }),
  );
}

/**
 * Scans blocks again for some addresses, and records what is new.
 * @param range The first and the last height, both included.
 * @throws NodeFailure, LeaseLost.
 */
export async function rescanRange(
  watcher: Watcher,
  { node, heads, signal }: Pick<Round, 'node' | 'heads' | 'signal'>,
  watch: readonly WatchedAddress[],
  range: { readonly from: number; readonly to: number },
): Promise<void> {
  const asked = await readTimes(watcher, node, range);
  await recordInternal(watcher, { node, watch, ...asked }, range);
  const pass: Pass = { node, heads, watch, ...asked, isSecondLook: true, signal };
  await scanParts(watcher, pass, range, NO_POLL, async () => undefined);
}

/**
 * When transfers in these blocks were made, by the times of the first and the last block. If the node has only one
 * of them, twice the usual time of so many blocks bounds the other, or two days, which an outage of a chain fits in.
 * If it has neither, all amounts that were ever requested count.
 */
export async function readTimes(
  { adapter, chain, clock }: Pick<Watcher, 'adapter' | 'chain' | 'clock'>,
  node: Node,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<Pick<Pass, 'askedSince' | 'madeBy'>> {
  const timeOf = async (height: number) =>
    (await adapter.readBlock(node, height).catch(() => null))?.time.getTime();
  const [first, last] = [await timeOf(from), await timeOf(to)];
  const spanMs = 2 * Math.max(DAY_MS, (to - from) * chain.blockMs);
  const earliest = first ?? (last === undefined ? 0 : last - spanMs);
  const latest = last ?? (first === undefined ? undefined : first + spanMs);
  return {
    askedSince: askedSince({ chain, clock }, new Date(earliest)),
    madeBy: latest === undefined ? undefined : new Date(latest),
  };
}

/** Maximum length of a rescan whose blocks are traced: a trace costs more than everything else. */
export const TRACED_MAXIMUM = 20;

/** Records transfers of the native asset by contracts, if the node traces and the range is short. */
async function recordInternal(
  watcher: Watcher,
  { node, watch, ...asked }: Pick<Pass, 'node' | 'watch' | 'askedSince' | 'madeBy'>,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  const { adapter } = watcher;
  const native = nativeAddresses(watch);
  if (adapter.internal === undefined || native.length === 0 || to - from >= TRACED_MAXIMUM) return;
  const found: ChainTransfer[] = [];
  for (let height = from; height <= to; height++) {
    const traced = await adapter.internal.trace(node, height, native);
    found.push(...(traced?.transfers ?? []));
  }
  await recordSeen(watcher, found, { last: NO_POLL, ...asked });
}
