import type { InternalTransfers } from '#chains/internal-transfers.ts';
import { type Node, NodeFailure } from '#chains/nodes/node.ts';
import { heightsOf, inParts } from '#chains/ranges.ts';
import type { HeldBalance } from '#storage/repositories/chains/held-balances.ts';
import { sumArrivals } from '#storage/repositories/deposits/watched-deposits.ts';
import type { Watcher } from '../watcher.ts';

/** A rise of a balance by more than the top-level transactions explain. */
export interface Increase {
  readonly address: string;
  readonly height: number;
  /** By how much more, in the asset's smallest unit. */
  readonly amount: bigint;
}

/** What balances and transactions show that is not recorded. */
interface Unrecorded {
  readonly increases: readonly Increase[];
  /** Addresses to which the node shows more transactions than are recorded: it left some out before. */
  readonly lacking: readonly string[];
}

/** Maximum number of blocks that are read to explain a balance; a longer span becomes one finding. */
const SPAN_MAXIMUM = 2_000;
/** How many blocks behind the newest one every node still has the state: go-ethereum keeps 128. */
export const STATE_KEPT = 100;
/** Blocks that are read concurrently; the rate limit of the node decides how fast. */
const CONCURRENCY = 20;

interface Subject extends Pick<Watcher, 'chain' | 'db'> {
  readonly internal: InternalTransfers;
  readonly node: Node;
  /** A smaller rise of the address's balance needs no explanation. */
  dustBelow(address: string): bigint;
  /** Dust that has arrived, by address. */
  readonly dust: { of(address: string): bigint };
}

/**
 * Finds where balances rose by more than recorded transfers and top-level transactions explain, and transactions that
 * are not recorded.
 * @param before What each address held at `from`.
 * @param after What the same addresses hold at a later block, all at the same one.
 * @throws NodeFailure.
 */
export async function findIncreases(
  { chain, db, internal, node, dustBelow, dust }: Subject,
  before: readonly HeldBalance[],
  after: readonly HeldBalance[],
  from: number,
): Promise<Unrecorded> {
  const to = after[0]?.height ?? from;
  const start = new Map(before.map(({ address, balance }) => [address, balance]));
  const arrived = await sumArrivals(db, chain.id, { from, to }, [...start.keys()]);
  // Most balances changed by recorded transfers alone, and need no block to be read again.
  const excessOf = ({ address, balance }: HeldBalance) =>
    balance - (start.get(address) ?? 0n) - (arrived.get(address) ?? 0n) - dust.of(address);
  // A small excess may be more than dust: an outgoing amount may hide a similar incoming one.
  const open = after.filter(each => excessOf(each) !== 0n);
  if (open.length === 0) return { increases: [], lacking: [] };
  const addresses = open.map(({ address }) => address);
  if (to - from > SPAN_MAXIMUM) {
    const increases = open
      .map(each => ({ address: each.address, height: to, amount: excessOf(each) }))
      .filter(({ amount }) => amount > 0n);
    return { increases, lacking: [] };
  }
  const { moved, arrivedAt } = await readMoved(internal, node, { from, to }, addresses);
  const lacking = addresses.filter(
    address => arrivedAt(address) > (arrived.get(address) ?? 0n) + dust.of(address),
  );
  const increases: Increase[] = [];
  for (const { address, balance } of open) {
    const excessAt = async (height: number, known?: bigint) => {
      const held = known ?? (await balanceAt(internal, node, address, height));
      return held - (start.get(address) ?? 0n) - moved(address, height);
    };
    const last = { height: to, excess: await excessAt(to, balance) };
    try {
      increases.push(...(await bisect(address, excessAt, { height: from, excess: 0n }, last)));
    } catch (error) {
      if (!(error instanceof NodeFailure) || to - from <= STATE_KEPT) throw error;
      // After an outage a node may no longer have the states in between.
      if (last.excess > 0n) increases.push({ address, height: to, amount: last.excess });
    }
  }
  const isTold = ({ address, amount }: Increase) => amount >= dustBelow(address);
  return { increases: increases.filter(isTold), lacking };
}

interface Point {
  readonly height: number;
  /** How much of the balance transactions do not explain. */
  readonly excess: bigint;
}

/** The blocks between two points in which the excess rises. */
async function bisect(
  address: string,
  excessAt: (height: number) => Promise<bigint>,
  low: Point,
  high: Point,
): Promise<Increase[]> {
  if (high.excess === low.excess) return [];
  if (high.height - low.height === 1) {
    const amount = high.excess - low.excess;
    return amount > 0n ? [{ address, height: high.height, amount }] : [];
  }
  const height = Math.floor((low.height + high.height) / 2);
  const middle = { height, excess: await excessAt(height) };
  return [
    ...(await bisect(address, excessAt, low, middle)),
    ...(await bisect(address, excessAt, middle, high)),
  ];
}

/** What top-level transactions moved in a range. */
interface Moved {
  /** The sum up to a height. */
  moved(address: string, height: number): bigint;
  /** The sum of what arrived. */
  arrivedAt(address: string): bigint;
}

async function readMoved(
  internal: InternalTransfers,
  node: Node,
  { from, to }: { readonly from: number; readonly to: number },
  addresses: readonly string[],
): Promise<Moved> {
  const movements: { address: string; height: number; amount: bigint }[] = [];
  for (const heights of inParts(heightsOf(from + 1, to), CONCURRENCY)) {
    const read = await Promise.all(
      heights.map(async height =>
        (await internal.readMovements(node, height, addresses)).map(each => ({ ...each, height })),
      ),
    );
    movements.push(...read.flat());
  }
  const sumOf = (own: typeof movements) => own.reduce((sum, { amount }) => sum + amount, 0n);
  return {
    moved: (address, height) =>
      sumOf(movements.filter(each => each.address === address && each.height <= height)),
    arrivedAt: address =>
      sumOf(movements.filter(each => each.address === address && each.amount > 0n)),
  };
}

async function balanceAt(
  internal: InternalTransfers,
  node: Node,
  address: string,
  height: number,
): Promise<bigint> {
  const [balance] = await internal.readBalances(node, { height, hash: null, addresses: [address] });
  if (balance === undefined || balance === null)
    throw new NodeFailure(`${node.label} has no balance of ${address}`);
  return balance;
}
