import { failureOf, LaggingNode, type Node } from '#chains/nodes/node.ts';
import type { Block } from '#chains/transfer.ts';
import { findChain, updateChain } from '#storage/repositories/chains/chains.ts';
import type { Watcher } from '../watcher.ts';
import { countDust } from './count-dust.ts';
import type { FirstLooks } from './first-looks.ts';
import { NO_POLL } from './occurred-at.ts';
import { readHeads } from './read-heads.ts';
import { type Pass, scanParts } from './scan.ts';

/**
 * Scans blocks a second time, some time after the first: by another node, if the chain has one that works. A lagging
 * server returns an empty list of logs and no error, so the first scan may have missed something.
 * @returns The last block that was scanned twice; the newest block if all blocks up to it were; undefined if no block
 * is due yet.
 * @throws NodeFailure of the primary node, LeaseLost.
 */
export async function sweep(
  watcher: Watcher,
  pass: Pass,
  looks: FirstLooks,
): Promise<Block | undefined> {
  const { adapter, chain, clock, db } = watcher;
  const { tip, finalHeight } = pass.heads;
  if (adapter.looksOnce === true) return undefined;
  const state = await findChain(db, chain.id);
  const swept = state?.swept_height ?? null;
  if (swept === null) return undefined;
  const look = looks.find(clock() - chain.secondLookAfterMs);
  if (look === undefined) return swept === tip.height ? tip : undefined;
  const to = chain.isFinalSoon ? Math.min(finalHeight ?? -1, look.height) : look.height;
  if (swept >= to) return swept === tip.height ? tip : undefined;
  const end = { height: to, hash: to === look.height ? look.hash : undefined };
  return (await sweepByAnother(watcher, swept, end, pass)) ?? sweepRange(watcher, end, pass);
}

/** The last block of a sweep. */
interface End {
  readonly height: number;
  /** undefined if it is not known; then the block is final. */
  readonly hash: string | undefined;
}

/** @returns undefined if there is no other node, or it fails. A second scan by the same node is better than none. */
async function sweepByAnother(
  watcher: Watcher,
  swept: number,
  end: End,
  pass: Pass,
): Promise<Block | undefined> {
  const { chain, log, nodes } = watcher;
  let other: Node | null = null;
  try {
    other =
      (await nodes.check(pass.signal, true)) ?? (await nodes.another(pass.node.id, pass.signal));
    if (other === null) return undefined;
    await readHeads(watcher, other, null, pass.signal);
    // The other node may be on another branch, or not have reached the block yet.
    const block = await watcher.adapter.readBlock(other, end.height);
    if (block === null || (end.hash !== undefined && block.hash !== end.hash)) {
      throw new LaggingNode(`${other.label} does not have block ${end.height} as it was recorded`);
    }
    const through = await sweepRange(watcher, end, { ...pass, node: other }, swept);
    nodes.reportSuccess(other.id);
    return through;
  } catch (error) {
    const failure = failureOf(other, error);
    if (failure === undefined) throw error;
    if (other !== null) nodes.reportFailure(other.id, failure);
    log.warn({ err: failure, chain: chain.id }, 'no other node looks a second time');
    return undefined;
  }
}

/**
 * @returns The last block that was scanned; undefined if there was none.
 * @throws NodeFailure, LeaseLost.
 */
async function sweepRange(
  watcher: Watcher,
  { height: to }: End,
  pass: Pass,
  known?: number,
): Promise<Block | undefined> {
  // Another node may have scanned a part before it failed.
  const swept = known ?? (await findChain(watcher.db, watcher.chain.id))?.swept_height ?? to;
  return scanParts(
    watcher,
    { ...pass, isSecondLook: true },
    { from: swept + 1, to },
    NO_POLL,
    async (tx, { through, dust }) => {
      await countDust(watcher, tx, dust);
      await updateChain(tx, watcher.chain.id, { swept_height: through.height });
    },
  );
}
