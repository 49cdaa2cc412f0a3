import { LaggingNode, type Node, NodeFailure } from '#chains/nodes/node.ts';
import type { ChainBlock, ChainState } from '#storage/database/watching-tables.ts';
import { cutRing, listRing } from '#storage/repositories/chains/blocks.ts';
import { updateChain } from '#storage/repositories/chains/chains.ts';
import { addFinding, resolveFindingsAbove } from '#storage/repositories/chains/findings.ts';
import { cutBalances } from '#storage/repositories/chains/held-balances.ts';
import { listFinalAbove, unplaceAbove } from '#storage/repositories/deposits/watched-deposits.ts';
import { depositFinding } from '../../settlement/deposit-finding.ts';
import { reorganisationDepth, reorganisations } from '../metrics.ts';
import type { Watcher } from '../watcher.ts';
import { askAnother, haltUndecided, setAside } from './another-node.ts';
import { halt } from './halt.ts';
import { UNEXPLAINED } from './unexplained.ts';
import { UNREADABLE } from './unreadable.ts';

/** Maximum number of final deposits in undone blocks that are checked; more would be an attack on the chain itself. */
const FINAL_LOOKED_AT = 200;

/**
 * Handles a node whose hash at the cursor differs from the recorded one.
 * @param cursorHash What the node has there; null if it has none.
 * @returns Whether the chain can be watched further; otherwise it is halted.
 * @throws LaggingNode if it has none, NodeFailure if it contradicts itself or serves another chain, LeaseLost.
 */
export async function handleOtherHash(
  watcher: Watcher,
  node: Node,
  state: ChainState,
  cursorHash: string | null,
  signal: AbortSignal,
): Promise<boolean> {
  if (cursorHash === null) {
    throw new LaggingNode(
      `${node.label} has no block ${state.cursor_height}, which is below its newest`,
    );
  }
  // An operator has resumed the chain at this height: any hash of the node is accepted.
  if (state.cursor_hash !== '') return reorganise(watcher, node, state, signal);
  const { chain, lease } = watcher;
  await lease.write(tx => updateChain(tx, chain.id, { cursor_hash: cursorHash }));
  return true;
}

/**
 * Goes back to the last recorded block that the node's chain still has. Seen deposits above it lose their block, and
 * stay seen until the new branch is scanned. Without any common block the chain is halted, and nothing is written
 * until the node has one again, or an operator resumes the chain.
 *
 * A final deposit whose block is gone becomes a finding: its payment is `successful` and stays so.
 * @returns Whether there was a common block.
 * @throws NodeFailure if the node serves another chain, or has none of the recorded blocks while a check node has
 * the last one; LeaseLost.
 */
export async function reorganise(
  watcher: Watcher,
  node: Node,
  state: ChainState,
  signal: AbortSignal,
): Promise<boolean> {
  const { chain, db, lease, log } = watcher;
  await requireSameChain(watcher, node, state);
  const ring = await listRing(db, chain.id);
  const fork = await findFork(watcher, node, ring);
  if (fork === undefined) {
    const text = `${node.label} has none of the recorded blocks`;
    const verdict = await askAnother(watcher, { node, recorded: ring[0], text }, signal);
    if (verdict?.isWrong) return setAside(watcher, node, verdict.reason);
    if (verdict !== undefined) {
      await haltUndecided(watcher, node, state, verdict.reason);
      return false;
    }
    await halt(
      watcher,
      node,
      state,
      `the node's chain has none of the ${ring.length} blocks that are remembered up to ${state.cursor_height}`,
    );
    return false;
  }
  const vanished = await listVanished(watcher, node, fork.height);
  await lease.write(async (tx, locked) => {
    const now = new Date(watcher.clock());
    await cutRing(tx, chain.id, fork.height);
    // On other chains, only balances of final blocks are read, which no branch undoes, though the ring may not have
    // them.
    const isEvm = chain.family === 'evm';
    if (isEvm) await cutBalances(tx, chain.id, fork.height);
    const kinds = [UNEXPLAINED, UNREADABLE];
    const undone = { chain: chain.id, kinds, only: isEvm ? 'all' : 'blocks' } as const;
    const below = Math.max(fork.height, locked.final_height ?? fork.height);
    const resolved = await resolveFindingsAbove(tx, undone, below, now);
    await unplaceAbove(tx, chain.id, fork.height, now);
    for (const deposit of vanished) {
      const detail = `The block of this final deposit was undone. Payment: ${deposit.payment_id ?? 'none'}.`;
      const finding = { chain: chain.id, kind: 'final_vanished', detail };
      await addFinding(tx, depositFinding(deposit, finding), now);
    }
    await updateChain(tx, chain.id, {
      cursor_height: fork.height,
      cursor_hash: fork.hash,
      swept_height: Math.min(locked.swept_height ?? fork.height, fork.height),
      // Transfers in the new blocks did not happen just now: without a poll, the time of their block counts.
      polled_at: null,
      halted: null,
      // The findings that held payments are resolved with their blocks: no payment expires before this branch was
      // read twice.
      ...(resolved > 0 && { expires_until: null }),
    });
  });
  const depth = (state.cursor_height ?? fork.height) - fork.height;
  reorganisations.inc({ chain: chain.id });
  reorganisationDepth.observe({ chain: chain.id }, depth);
  log.warn(
    { chain: chain.id, node: node.label, fork: fork.height, depth, vanished: vanished.length },
    'chain reorganised',
  );
  return true;
}

/** @throws NodeFailure if the node serves another chain than before; the node is then distrusted. */
export async function requireSameChain(
  { adapter, nodes }: Watcher,
  node: Node,
  state: ChainState,
): Promise<void> {
  const identity = await adapter.identify(node);
  if (identity === state.identity) return;
  const reason = `${node.label} serves the chain ${identity}, and not ${state.identity} as before`;
  nodes.distrust(node.id, reason);
  throw new NodeFailure(reason);
}

/** The newest block of the ring that the node has, by bisection: every block below a common one is common too. */
async function findFork(
  { adapter }: Watcher,
  node: Node,
  newestFirst: readonly ChainBlock[],
): Promise<ChainBlock | undefined> {
  let undone = -1;
  let common = newestFirst.length;
  while (common - undone > 1) {
    const middle = Math.floor((undone + common) / 2);
    const entry = newestFirst[middle];
    if (entry === undefined) break;
    if ((await hashAt(adapter, node, entry.height)) === entry.hash) common = middle;
    else undone = middle;
  }
  return newestFirst[common];
}

async function listVanished({ adapter, chain, db }: Watcher, node: Node, height: number) {
  const hashes = new Map<number, string | undefined>();
  const vanished = [];
  for (const deposit of await listFinalAbove(db, chain.id, height, FINAL_LOOKED_AT)) {
    const at = deposit.block_height;
    if (at === null) continue;
    if (!hashes.has(at)) hashes.set(at, await hashAt(adapter, node, at));
    if (hashes.get(at) !== deposit.block_hash) vanished.push(deposit);
  }
  return vanished;
}

/**
 * The hash of the node's block of this height; undefined above its newest one.
 * @throws NodeFailure if a block below the newest one is missing, which is no sign of a fork.
 */
async function hashAt(
  adapter: Watcher['adapter'],
  node: Node,
  height: number,
): Promise<string | undefined> {
  const block = await adapter.readBlock(node, height);
  if (block === null && (await adapter.readHeight(node)) >= height) {
    throw new NodeFailure(`${node.label} has no block ${height}, which is below its newest`);
  }
  return block?.hash;
}
