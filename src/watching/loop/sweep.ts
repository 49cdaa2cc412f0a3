import type { Block } from '../../chains/transfer.ts';
import { failureOf, type Node } from '../../nodes/node.ts';
import { findChain, updateChain } from '../../repositories/chains/chains.ts';
import type { Watcher } from '../watcher.ts';
import { countDust } from './count-dust.ts';
import { NO_POLL } from './occurred-at.ts';
import { readHeads } from './read-heads.ts';
import { type Pass, scanParts } from './scan.ts';

/**
 * Scans final blocks a second time, by the check node if it works.
 * @returns The last block of the sweep; the newest block when all up to it have been swept; undefined when there was
 * nothing to sweep.
 * @throws NodeFailure of the primary node, LeaseLost.
 */
export async function sweep(watcher: Watcher, pass: Pass): Promise<Block | undefined> {
  const { adapter, chain, db, nodes } = watcher;
  const { tip, finalHeight } = pass.heads;
  if (adapter.looksOnce === true) return undefined;
  const state = await findChain(db, chain.id);
  const { swept_height: swept = null, cursor_height: cursor = null } = state ?? {};
  if (swept === null || cursor === null) return undefined;
  // Bitcoin has no finality of its own: the block below the newest one is looked at again.
  const to = Math.min(finalHeight ?? tip.height - 1, cursor);
  if (swept >= to) return swept === tip.height ? tip : undefined;
  let check: Node | null = null;
  try {
    check = await nodes.check(pass.signal, true);
    if (check === null) return await sweepRange(watcher, swept, to, pass);
    const heads = await readHeads(watcher, check, null, pass.signal);
    const reached = Math.min(to, heads.finalHeight ?? heads.tip.height - 1);
    const through = await sweepRange(watcher, swept, reached, { ...pass, node: check });
    nodes.reportSuccess(check.id);
    return through;
  } catch (error) {
    const failure = failureOf(check, error);
    if (failure === undefined) throw error;
    if (check !== null) nodes.reportFailure(check.id, failure);
    // A second scan by the same node is better than none. It goes on where the check node ended.
    const { swept_height: reached = null } = (await findChain(db, chain.id)) ?? {};
    return sweepRange(watcher, reached ?? swept, to, pass);
  }
}

/**
 * Scans blocks that have become final a second time: a node that lags returns an empty list of logs and no error,
 * so the first scan may have missed something.
 * @returns The last block that was scanned; undefined if there was none.
 * @throws NodeFailure, LeaseLost.
 */
function sweepRange(
  watcher: Watcher,
  swept: number,
  to: number,
  pass: Pass,
): Promise<Block | undefined> {
  return scanParts(
    watcher,
    pass,
    { from: swept + 1, to },
    NO_POLL,
    async (tx, { through, dust }) => {
      await countDust(watcher, tx, dust);
      await updateChain(tx, watcher.chain.id, { swept_height: through.height });
    },
  );
}
