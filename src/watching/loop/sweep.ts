import type { Block } from '../../chains/adapter.ts';
import { NodeFailure, RpcError } from '../../nodes/node.ts';
import { findChain } from '../../repositories/chains.ts';
import type { Watcher } from '../watcher.ts';
import { readHeads } from './read-heads.ts';
import { type Pass, sweep } from './scan.ts';

/**
 * Scans what has become final a second time, by the check node if it is well.
 * @returns The last block of the sweep; the newest block when all of them have been swept.
 * @throws NodeFailure of the primary node, LeaseLost.
 */
export async function lookAgain(
  watcher: Watcher,
  pass: Pass,
  tip: Block,
): Promise<Block | undefined> {
  const { adapter, chain, db, nodes } = watcher;
  if (adapter.looksOnce === true) return undefined;
  const state = await findChain(db, chain.id);
  const { swept_height: swept = null, cursor_height: cursor = null } = state ?? {};
  if (swept === null || cursor === null) return undefined;
  // Bitcoin has no finality of its own: the block below the newest one is looked at again.
  const to = Math.min(pass.tips.final ?? tip.height - 1, cursor);
  if (swept >= to) return swept === tip.height ? tip : undefined;
  try {
    const check = await nodes.check(pass.signal);
    if (check === null) return await sweep(watcher, swept, to, pass);
    const heads = await readHeads(watcher, check, null, pass.signal);
    const reached = Math.min(to, heads.finalHeight ?? heads.tip.height - 1);
    return await sweep(watcher, swept, reached, { ...pass, node: check });
  } catch (error) {
    if (!(error instanceof NodeFailure || error instanceof RpcError)) throw error;
    // The second look of the same node is worth more than none. What the other one has swept is done.
    const { swept_height: reached = null } = (await findChain(db, chain.id)) ?? {};
    return sweep(watcher, reached ?? swept, to, pass);
  }
}
