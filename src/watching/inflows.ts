import type { ChainTransfer, InternalTransfers, WatchedAddress } from '../chains/adapter.ts';
import { newId } from '../crypto/new-id.ts';
import { type Node, NodeFailure, RpcError } from '../nodes/node.ts';
import { addFinding } from '../repositories/findings.ts';
import {
  listBalances,
  type NativeBalance,
  putBalances,
  trimBalances,
} from '../repositories/native-balances.ts';
import { sumArrivals } from '../repositories/watched-deposits.ts';
import { NO_POLL, occurredAt } from './occurred-at.ts';
import { record, toObserved } from './record.ts';
import type { Watcher } from './watcher.ts';

/** A block whose balances are read. */
export interface Pinned {
  readonly height: number;
  readonly hash: string;
}

/** Where a balance rose by more than the top-level transactions explain. */
interface Rise {
  readonly address: string;
  readonly height: number;
  /** By how much more, in the asset's smallest unit. */
  readonly amount: bigint;
}

/** Blocks whose transactions are read to explain a balance; a longer span is a finding as a whole. */
const SPAN_MAXIMUM = 2_000;
/** Blocks of which every node has the state: go-ethereum keeps 128. */
const STATE_KEPT = 100;
/** Blocks that are read at once; the node's allowance decides how fast they come. */
const CONCURRENCY = 20;

/** Addresses of the watch list that hold the chain's native asset. */
export function nativeAddresses(watch: readonly WatchedAddress[]): WatchedAddress[] {
  return watch.filter(({ network }) => network.contract === null);
}

/**
 * Reads what addresses that have joined the watch list hold at the cursor, before anything behind it is
 * scanned: what rises later has to be explained.
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
 * Finds what contracts have sent in the native asset, which no scan of blocks shows: a balance at the
 * cursor that is higher than the one before and all top-level transactions since make it. Where the node
 * traces, the transfer is recorded; else it becomes a finding.
 * @param finalHeight Older balances than this are needed no more.
 * @throws NodeFailure, LeaseLost.
 */
export async function findInflows(
  watcher: Watcher,
  node: Node,
  watch: readonly WatchedAddress[],
  cursor: Pinned,
  finalHeight: number,
): Promise<void> {
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
  const rises: Rise[] = [];
  for (const [height, group] of Map.groupBy(due, each => each.height)) {
    const own = now.filter(({ address }) => group.some(each => each.address === address));
    rises.push(...(await findRises(watcher, adapter.internal, node, group, own, height)));
  }
  await explain(watcher, adapter.internal, node, native, rises);
  await lease.write(async tx => {
    await putBalances(tx, chain.id, now);
    await trimBalances(tx, chain.id, finalHeight, addresses);
  });
}

async function readBalances(
  internal: InternalTransfers,
  node: Node,
  addresses: readonly string[],
  { height, hash }: Pinned,
): Promise<NativeBalance[]> {
  if (addresses.length === 0) return [];
  const balances = await internal.readBalances(node, { height, hash, addresses });
  return addresses.map((address, index) => ({ address, height, balance: balances[index] ?? 0n }));
}

/** Rises between two readings of the same addresses. */
async function findRises(
  { chain, db }: Watcher,
  internal: InternalTransfers,
  node: Node,
  before: readonly NativeBalance[],
  after: readonly NativeBalance[],
  from: number,
): Promise<Rise[]> {
  const to = after[0]?.height ?? from;
  const start = new Map(before.map(({ address, balance }) => [address, balance]));
  const arrived = await sumArrivals(db, chain.id, { from, to }, [...start.keys()]);
  // Most balances changed by recorded transfers alone, and need no block to be read again.
  const open = after.filter(
    ({ address, balance }) => balance !== (start.get(address) ?? 0n) + (arrived.get(address) ?? 0n),
  );
  if (open.length === 0) return [];
  const addresses = open.map(({ address }) => address);
  if (to - from > SPAN_MAXIMUM) {
    return open
      .map(({ address, balance }) => ({
        address,
        height: to,
        amount: balance - (start.get(address) ?? 0n) - (arrived.get(address) ?? 0n),
      }))
      .filter(({ amount }) => amount > 0n);
  }
  const moved = await readMoved(internal, node, { from, to }, addresses);
  const rises: Rise[] = [];
  for (const { address, balance } of open) {
    const excessAt = async (height: number, known?: bigint) => {
      const held = known ?? (await balanceAt(internal, node, address, height));
      return held - (start.get(address) ?? 0n) - moved(address, height);
    };
    const last = { height: to, excess: await excessAt(to, balance) };
    try {
      rises.push(...(await bisect(address, excessAt, { height: from, excess: 0n }, last)));
    } catch (error) {
      if (!(error instanceof NodeFailure) || to - from <= STATE_KEPT) throw error;
      // After an outage a node may have forgotten the states in between.
      if (last.excess > 0n) rises.push({ address, height: to, amount: last.excess });
    }
  }
  return rises;
}

interface Point {
  readonly height: number;
  /** What the balance is above the one that transactions explain. */
  readonly excess: bigint;
}

/** The blocks between two points in which the excess rises. */
async function bisect(
  address: string,
  excessAt: (height: number) => Promise<bigint>,
  low: Point,
  high: Point,
): Promise<Rise[]> {
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

/** Sums of what top-level transactions moved, by address and up to a height. */
async function readMoved(
  internal: InternalTransfers,
  node: Node,
  { from, to }: { readonly from: number; readonly to: number },
  addresses: readonly string[],
): Promise<(address: string, height: number) => bigint> {
  const movements: { address: string; height: number; amount: bigint }[] = [];
  for (let first = from + 1; first <= to; first += CONCURRENCY) {
    const count = Math.min(CONCURRENCY, to - first + 1);
    const heights = Array.from({ length: count }, (_, index) => first + index);
    const read = await Promise.all(
      heights.map(async height =>
        (await internal.readMovements(node, height, addresses)).map(each => ({ ...each, height })),
      ),
    );
    movements.push(...read.flat());
  }
  return (address, height) =>
    movements
      .filter(each => each.address === address && each.height <= height)
      .reduce((sum, { amount }) => sum + amount, 0n);
}

async function balanceAt(
  internal: InternalTransfers,
  node: Node,
  address: string,
  height: number,
): Promise<bigint> {
  const [balance] = await internal.readBalances(node, { height, hash: null, addresses: [address] });
  if (balance === undefined) throw new NodeFailure(`${node.label} has no balance of ${address}`);
  return balance;
}

/** Records what a trace explains; the rest becomes findings. */
async function explain(
  watcher: Watcher,
  internal: InternalTransfers,
  node: Node,
  native: readonly WatchedAddress[],
  rises: readonly Rise[],
): Promise<void> {
  const { chain, clock } = watcher;
  for (const [height, group] of Map.groupBy(rises, ({ height }) => height)) {
    const traced = await trace(internal, node, height, native);
    const now = new Date(clock());
    await record(
      watcher,
      (traced ?? []).map(transfer =>
        toObserved(transfer, 'seen', occurredAt(chain, transfer, NO_POLL, now)),
      ),
    );
    for (const { address, amount } of group) {
      const explained = (traced ?? [])
        .filter(transfer => transfer.address === address)
        .reduce((sum, { tokenAmount }) => sum + tokenAmount, 0n);
      if (explained < amount) {
        await reportInflow(watcher, { address, height, amount: amount - explained });
      }
    }
  }
}

/** null where the node does not trace, or has not what a trace needs any more. */
async function trace(
  internal: InternalTransfers,
  node: Node,
  height: number,
  native: readonly WatchedAddress[],
): Promise<readonly ChainTransfer[] | null> {
  try {
    return await internal.trace(node, height, native);
  } catch (error) {
    if (error instanceof RpcError) return null;
    throw error;
  }
}

async function reportInflow(
  { chain, clock, db, log }: Watcher,
  { address, height, amount }: Rise,
): Promise<void> {
  const isNew = await addFinding(
    db,
    {
      id: newId(),
      chain: chain.id,
      kind: 'unexplained_inflow',
      blockchainId: chain.id,
      address,
      amount,
      height,
      detail: `The balance rose by ${amount} more than the transactions of the block explain: a contract has sent it, and the node traces no blocks.`,
    },
    new Date(clock()),
  );
  if (isNew) log.warn({ chain: chain.id, address, height }, 'unexplained inflow');
}
