import type { Moved } from '#chains/holdings.ts';
import type { Node } from '#chains/nodes/node.ts';
import type { WatchedAddress } from '#chains/transfer.ts';
import { sumArrivals } from '#storage/repositories/deposits/watched-deposits.ts';
import { readDustLimits } from '../../settlement/weigh-transfers.ts';
import type { Watcher } from '../watcher.ts';
import { askedSince } from './record-seen.ts';
import { rescanRange } from './rescan.ts';
import type { Round } from './round.ts';
import { unlessNodeFails } from './unless-node-fails.ts';

/** The change of a balance in the blocks above `from` up to `to`. */
export interface Rise {
  readonly watched: WatchedAddress;
  readonly from: number;
  readonly to: number;
  /** What the address held after the block `from`, in the asset's smallest unit. */
  readonly before: bigint;
  /** By how much the balance rose, in the asset's smallest unit; less than 0 where it fell. */
  readonly by: bigint;
  /** The sum of the recorded transfers to the address in these blocks. */
  readonly recorded: bigint;
}

/** A rise with the amount that nothing explains. */
export interface UnexplainedRise extends Rise {
  /** In the asset's smallest unit, more than 0. */
  readonly amount: bigint;
}

/** A rise that is not explained yet, with the unexplained amount; null if a node cannot show what moved the balance. */
interface OpenRise extends Rise {
  readonly amount: bigint | null;
}

/** Whether an amount is more than dust at the address of a rise. */
type Matters = (rise: Rise, amount: bigint) => boolean;

/**
 * Asks the node of the round what moved the balances and, if that explains too little, another one. If this is the
 * second look, it asks both. Transfers that they show and that are not recorded yet are recorded. Outgoing amounts
 * are read even if a balance is as expected: they may hide incoming ones.
 * @returns The rises that neither node explains, except for dust.
 * @throws NodeFailure of the node of the round, LeaseLost.
 */
export async function explainRises(
  watcher: Watcher,
  round: Round,
  rises: readonly Rise[],
): Promise<readonly OpenRise[]> {
  if (rises.length === 0) return [];
  const { adapter, chain, db, log, nodes } = watcher;
  const isSecondLook = adapter.holdings?.isSecondLook === true;
  const inexact = isSecondLook
    ? rises
    : await inRanges(rises, own => findInexact(watcher, round.node, own));
  if (inexact.length === 0) return [];
  const placeOf = ({ network, address }: WatchedAddress) => ({ blockchainId: network.id, address });
  const since = askedSince(watcher, round.state.expires_until);
  const places = inexact.map(({ watched }) => placeOf(watched));
  const dustBelow = await readDustLimits(db, places, { since });
  const matters: Matters = ({ watched }, amount) =>
    amount > 0n && amount >= dustBelow(placeOf(watched));
  const explainBy = (node: Node, own: readonly Rise[]) =>
    inRanges(own, range => explainRange(watcher, { ...round, node }, range, matters));

  const unread = inexact.map(each => ({ ...each, amount: null }));
  if (isSecondLook) {
    // A node may leave out both an incoming and an outgoing transfer, so that nothing seems to be missing.
    const open = new Set((await explainByAnother(unread)).map(({ watched }) => watched));
    const left = await explainBy(round.node, unread);
    return left.filter(({ watched }) => open.has(watched));
  }
  const open = await explainBy(round.node, unread);
  return open.length === 0 ? open : explainByAnother(open);

  async function explainByAnother(own: readonly OpenRise[]): Promise<readonly OpenRise[]> {
    const message = 'no other node explains what an address holds';
    const left = await unlessNodeFails(log, { chain: chain.id }, message, async () => {
      const other = await nodes.another(round.node.id, round.signal);
      return other === null ? own : explainBy(other, own);
    });
    return left ?? own;
  }
}

async function inRanges<T>(
  rises: readonly Rise[],
  work: (own: readonly Rise[]) => Promise<readonly T[]>,
): Promise<T[]> {
  const results: T[] = [];
  for (const own of Map.groupBy(rises, ({ from, to }) => `${from} ${to}`).values()) {
    results.push(...(await work(own)));
  }
  return results;
}

/** The rises in one range that do not match exactly the recorded transfers and those that the node shows. */
async function findInexact(
  { adapter: { holdings } }: Watcher,
  node: Node,
  rises: readonly Rise[],
): Promise<readonly Rise[]> {
  const [first] = rises;
  if (first === undefined || holdings === undefined) return [];
  const watch = rises.map(({ watched }) => watched);
  const moved = await holdings.readMoved(node, { from: first.from, to: first.to }, watch);
  return rises.filter(({ by, recorded }, index) => {
    const own = moved[index];
    if (own === null) return true;
    const { arrived = 0n, left = 0n } = own ?? {};
    return arrived !== recorded || by !== recorded - left;
  });
}

/** The rises in one range that the node of the round does not explain either. */
async function explainRange(
  watcher: Watcher,
  round: Round,
  rises: readonly Rise[],
  matters: Matters,
): Promise<readonly OpenRise[]> {
  const [first] = rises;
  const { holdings } = watcher.adapter;
  if (first === undefined || holdings === undefined) return [];
  const range = { from: first.from, to: first.to };
  const watch = rises.map(({ watched }) => watched);
  const moved = await holdings.readMoved(round.node, range, watch);
  const lacking = rises.filter((rise, index) =>
    matters(rise, arrivedOf(moved[index]) - rise.recorded),
  );
  if (lacking.length > 0) {
    const own = lacking.map(({ watched }) => watched);
    await rescanRange(watcher, round, own, { from: range.from + 1, to: range.to });
  }
  const unexplained = await Promise.all(
    rises.map(async (rise, index): Promise<OpenRise> => {
      if (moved[index] === null) return { ...rise, amount: null };
      const { network, address } = rise.watched;
      const arrivals = await sumArrivals(watcher.db, network.id, range, [address]);
      const recorded = arrivals.get(address) ?? 0n;
      const shown = arrivedOf(moved[index]);
      // Record and node may each have what the other lacks: dust is not recorded, and a node may leave out recorded
      // transfers.
      const explained = (shown > recorded ? shown : recorded) - (moved[index]?.left ?? 0n);
      return { ...rise, recorded, amount: rise.by - explained };
    }),
  );
  return unexplained.filter(({ amount, ...rise }) => amount === null || matters(rise, amount));
}

function arrivedOf(moved: Moved | null | undefined): bigint {
  return moved?.arrived ?? 0n;
}
