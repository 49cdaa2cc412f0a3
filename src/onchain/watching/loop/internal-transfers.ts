import type { InternalTransfers, Traced } from '#chains/internal-transfers.ts';
import type { MissingItems } from '#chains/missing-items.ts';
import { LaggingNode, type Node, NodeFailure, RpcError } from '#chains/nodes/node.ts';
import { isCounted } from '#chains/nodes/open-node.ts';
import type { Block, WatchedAddress } from '#chains/transfer.ts';
import {
  type HeldBalance,
  listBalances,
  putBalances,
  trimBalances,
} from '#storage/repositories/chains/held-balances.ts';
import { sumArrivals } from '#storage/repositories/deposits/watched-deposits.ts';
import { readDustLimits } from '../../settlement/weigh-transfers.ts';
import { requireBlock } from '../find-block.ts';
import { nativeAddresses } from '../watch-list.ts';
import type { Watcher } from '../watcher.ts';
import { findIncreases, type Increase } from './balance-increases.ts';
import type { NativeDust } from './native-dust.ts';
import { recordSeen, type Timing } from './record-seen.ts';
import { rescanRange } from './rescan.ts';
import type { Round } from './round.ts';
import { reportUnexplained } from './unexplained.ts';
import { unlessNodeFails } from './unless-node-fails.ts';

/** A block whose balances are read. */
type Pinned = Pick<Block, 'height' | 'hash'>;

/**
 * Reads the balances at the cursor of addresses that have joined the watch list, before later blocks are scanned:
 * from then on every rise has to be explained.
 * @throws NodeFailure, LeaseLost.
 */
export async function noteJoined(
  watcher: Watcher,
  node: Node,
  watch: readonly WatchedAddress[],
  cursor: Pinned,
): Promise<void> {
  const { adapter, chain, db, lease } = watcher;
  const addresses = nativeAddresses(watch).map(({ address }) => address);
  if (adapter.internal === undefined || addresses.length === 0) return;
  const known = new Set((await listBalances(db, chain.id, addresses)).map(each => each.address));
  const joined = addresses.filter(address => !known.has(address));
  if (joined.length === 0) return;
  const balances = await readBalances(adapter.internal, node, joined, cursor);
  await lease.write(tx => putBalances(tx, chain.id, balances));
}

/**
 * Finds transfers of the native asset by contracts, which no scan of blocks shows: the balance at the cursor is
 * higher than the previous balance and all top-level transactions since explain. If the node traces the transfer, or
 * another node shows it, it is recorded; otherwise the rise becomes a finding. Transactions that the node left out
 * when their blocks were scanned are recorded as well.
 * @param finalHeight Balances below this height are no longer needed.
 * @param timing As for `recordSeen`. A rise that is dust needs no explanation.
 * @param dust Dust in the blocks up to the cursor; it is cleared.
 * @param misses Counts traces that a node fails to show.
 * @throws NodeFailure, LeaseLost.
 */
export async function findInternalTransfers(
  watcher: Watcher,
  round: Round,
  watch: readonly WatchedAddress[],
  cursor: Pinned,
  by: {
    readonly finalHeight: number;
    readonly timing: Timing;
    readonly dust: NativeDust;
    readonly misses: MissingItems;
  },
): Promise<void> {
  const { finalHeight, timing, dust, misses } = by;
  const { node } = round;
  const { adapter, chain, db, lease } = watcher;
  const native = nativeAddresses(watch);
  if (adapter.internal === undefined || native.length === 0) return;
  const addresses = native.map(({ address }) => address);
  const before = await listBalances(db, chain.id, addresses);
  const due = before.filter(({ height }) => height < cursor.height);
  const now = await readBalances(
    adapter.internal,
    node,
    due.map(({ address }) => address),
    cursor,
  );
  const places = due.map(({ address }) => ({ blockchainId: chain.id, address }));
  const limitOf = await readDustLimits(db, places, { since: timing.askedSince });
  const dustBelow = (address: string) => limitOf({ blockchainId: chain.id, address });
  const increases: Increase[] = [];
  for (const [height, group] of Map.groupBy(due, each => each.height)) {
    const own = now.filter(({ address }) => group.some(each => each.address === address));
    const subject = { db, chain, internal: adapter.internal, node, dustBelow, dust };
    const found = await findIncreases(subject, group, own, height);
    increases.push(...found.increases);
    const lacking = native.filter(({ address }) => found.lacking.includes(address));
    if (lacking.length > 0) {
      await rescanRange(watcher, round, lacking, { from: height + 1, to: cursor.height });
    }
  }
  const explaining = { internal: adapter.internal, native, timing, misses, cursor };
  await explain(watcher, round, explaining, increases);
  await lease.write(async tx => {
    await putBalances(tx, chain.id, now);
    await trimBalances(tx, chain.id, finalHeight, addresses);
  });
  dust.clear();
}

async function readBalances(
  internal: InternalTransfers,
  node: Node,
  addresses: readonly string[],
  { height, hash }: Pinned,
): Promise<HeldBalance[]> {
  if (addresses.length === 0) return [];
  const balances = await internal.readBalances(node, { height, hash, addresses });
  // If a balance is missing here, the next look compares with the previous one.
  return addresses.flatMap((address, index) => {
    const balance = balances[index] ?? null;
    return balance === null ? [] : [{ address, height, balance }];
  });
}

interface Explaining {
  readonly internal: InternalTransfers;
  readonly native: readonly WatchedAddress[];
  readonly timing: Timing;
  readonly misses: MissingItems;
  readonly cursor: Pinned;
}

/** Records the transfers that a trace or another node shows; unexplained rises become findings. */
async function explain(
  watcher: Watcher,
  round: Round,
  { internal, native, timing, misses, cursor }: Explaining,
  increases: readonly Increase[],
): Promise<void> {
  for (const [height, group] of Map.groupBy(increases, ({ height }) => height)) {
    const traced = (await trace(internal, round.node, height, native, misses))?.transfers ?? [];
    await recordSeen(watcher, traced, timing);
    for (const { address, amount: rise } of group) {
      const byTrace = traced
        .filter(transfer => transfer.address === address)
        .reduce((sum, { tokenAmount }) => sum + tokenAmount, 0n);
      const place = { address, height };
      const shown = await sumShown(internal, round.node, place);
      const leftOf = async () => {
        const byOthers = (await sumRecorded(watcher, place)) - shown;
        return rise - (byOthers > byTrace ? byOthers : byTrace);
      };
      const own = native.filter(each => each.address === address);
      if ((await leftOf()) > 0n) await askAnother(watcher, round, own, height);
      const amount = await leftOf();
      if (amount <= 0n) continue;
      // What the node shows may be dust, which is not recorded.
      if (amount < (await dustAt(watcher, round.node, place, timing))) continue;
      await requireSameBranch(watcher, round.node, cursor);
      await reportUnexplained(watcher, {
        network: watcher.chain.id,
        address,
        amount,
        from: height - 1,
        to: height,
        detail: `The balance rose by ${amount} more than the transactions of the block explain: a contract has sent it and the node does not trace it, or the node leaves a transaction out.`,
      });
    }
  }
}

/**
 * Balances are read by the cursor's hash, and transactions by height. Both are of one branch only if the node has not
 * left it meanwhile.
 * @throws LaggingNode
 */
async function requireSameBranch(
  { adapter }: Watcher,
  node: Node,
  { height, hash }: Pinned,
): Promise<void> {
  const block = await adapter.readBlock(node, height);
  if (block?.hash === hash) return;
  throw new LaggingNode(`${node.label} has left the branch of block ${height} while it was read`);
}

/** An address in a block. */
interface Place {
  readonly address: string;
  readonly height: number;
}

/** The dust limit at an address when a block was made; rests that were requested later do not count. */
async function dustAt(
  { adapter, chain, db }: Watcher,
  node: Node,
  { address, height }: Place,
  { askedSince: since }: Timing,
): Promise<bigint> {
  const { time } = await requireBlock(adapter, node, height);
  const until = new Date(time.getTime() + chain.clockSkewMs);
  const place = { blockchainId: chain.id, address };
  return (await readDustLimits(db, [place], { since, until, madeBy: until }))(place);
}

/** The sum that top-level transactions of a block brought to an address, as a node shows them. */
async function sumShown(
  internal: InternalTransfers,
  node: Node,
  { address, height }: Place,
): Promise<bigint> {
  const movements = await internal.readMovements(node, height, [address]);
  return movements.reduce((sum, { amount }) => (amount > 0n ? sum + amount : sum), 0n);
}

/** The sum of recorded transfers to an address in a block, whichever node has shown them. */
async function sumRecorded({ chain, db }: Watcher, { address, height }: Place): Promise<bigint> {
  const range = { from: height - 1, to: height };
  return (await sumArrivals(db, chain.id, range, [address])).get(address) ?? 0n;
}

/** Records what another node shows of a block. */
async function askAnother(
  watcher: Watcher,
  round: Round,
  own: readonly WatchedAddress[],
  height: number,
): Promise<void> {
  const { chain, log, nodes } = watcher;
  const message = 'no other node explains what an address holds';
  await unlessNodeFails(log, { chain: chain.id }, message, async () => {
    const node = await nodes.another(round.node.id, round.signal);
    if (node === null) return;
    await rescanRange(watcher, { ...round, node }, own, { from: height, to: height });
  });
}

/**
 * Returns null if the node does not trace, no longer has the state that a trace needs, or fails to show the trace in
 * several looks, so that other payments need not wait for it.
 */
async function trace(
  internal: InternalTransfers,
  node: Node,
  height: number,
  native: readonly WatchedAddress[],
  misses: MissingItems,
): Promise<Traced | null> {
  try {
    return await internal.trace(node, height, native);
  } catch (error) {
    if (error instanceof RpcError) return null;
    const isAlone = error instanceof NodeFailure && !isCounted(error);
    if (!isAlone || misses.count([height], String, true).length > 0) throw error;
    return null;
  }
}
