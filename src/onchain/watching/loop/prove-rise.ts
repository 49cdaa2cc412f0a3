import type { Holdings } from '#chains/holdings.ts';
import type { Node } from '#chains/nodes/node.ts';
import type { Block } from '#chains/transfer.ts';
import { requireBlock } from '../find-block.ts';
import type { Watcher } from '../watcher.ts';
import type { UnexplainedRise } from './explain-rises.ts';
import { NO_POLL } from './occurred-at.ts';
import { askedSince, recordSeen } from './record-seen.ts';
import type { Round } from './round.ts';
import { unlessNodeFails } from './unless-node-fails.ts';

/** Maximum range, in blocks, that is searched for the block of a rise: balances are compared each minute. */
const SPAN_MAXIMUM = 2_000;

/**
 * Finds the block in which a balance rose, and records the transfers that the block itself proves: a node that leaves
 * a log out still has it in the receipts to which the block's hash commits.
 * @returns Whether that explains the rise; false if blocks of the chain prove nothing, or no node has the proof.
 * @throws LeaseLost.
 */
export async function proveRise(
  watcher: Watcher,
  round: Round,
  rise: UnexplainedRise,
): Promise<boolean> {
  const { adapter, chain, log, nodes } = watcher;
  const { holdings, proveTransfers } = adapter;
  if (holdings === undefined || proveTransfers === undefined) return false;
  if (rise.to - rise.from > SPAN_MAXIMUM) return false;
  const message = 'what an address holds is not proven';
  const isProven = await unlessNodeFails(log, { chain: chain.id }, message, async () => {
    const block = await findBlock(watcher, holdings, round.node, rise);
    const own = await recordProven(watcher, round.node, block, rise);
    if (own >= rise.amount) return true;
    const other = await nodes.another(round.node.id, round.signal);
    return other !== null && (await recordProven(watcher, other, block, rise)) >= rise.amount;
  });
  return isProven ?? false;
}

/** A block in which the balance rose by more than the node explains, by bisection. */
async function findBlock(
  { adapter }: Watcher,
  holdings: Holdings,
  node: Node,
  { watched, from, to, before }: UnexplainedRise,
): Promise<Block> {
  let [low, high] = [from, to];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const block = await requireBlock(adapter, node, middle);
    const { balances } = await holdings.read(node, block, [watched]);
    const [moved] = await holdings.readMoved(node, { from, to: middle }, [watched]);
    const explained = (moved?.arrived ?? 0n) - (moved?.left ?? 0n);
    if ((balances[0] ?? before) - before > explained) high = middle;
    else low = middle;
  }
  return requireBlock(adapter, node, high);
}

/** Records the transfers of a block that a node can prove, and returns their sum. */
async function recordProven(
  watcher: Watcher,
  node: Node,
  block: Block,
  { watched }: UnexplainedRise,
): Promise<bigint> {
  const transfers = (await watcher.adapter.proveTransfers?.(node, block, [watched])) ?? [];
  const since = askedSince(watcher, block.time);
  await recordSeen(watcher, transfers, { last: NO_POLL, askedSince: since, madeBy: block.time });
  return transfers.reduce((sum, { tokenAmount }) => sum + tokenAmount, 0n);
}
