import type { InternalTransfers, Traced } from '../../chains/internal-transfers.ts';
import type { Misses } from '../../chains/misses.ts';
import type { Block, WatchedAddress } from '../../chains/transfer.ts';
import { newId } from '../../crypto/new-id.ts';
import { type Node, NodeFailure, RpcError } from '../../nodes/node.ts';
import { isCounted } from '../../nodes/open-node.ts';
import { addFinding } from '../../repositories/chains/findings.ts';
import {
  listBalances,
  type NativeBalance,
  putBalances,
  trimBalances,
} from '../../repositories/chains/native-balances.ts';
import { addUntraceableEvents } from '../../settlement/unmatched-events.ts';
import { readDustLimits } from '../../settlement/weigh-transfers.ts';
import type { Watcher } from '../watcher.ts';
import { findIncreases, type Increase } from './balance-increases.ts';
import type { NativeDust } from './native-dust.ts';
import { recordSeen, type Timing } from './record-seen.ts';

/** A block whose balances are read. */
type Pinned = Pick<Block, 'height' | 'hash'>;

/** Addresses of the watch list that hold the chain's native asset. */
export function nativeAddresses(watch: readonly WatchedAddress[]): WatchedAddress[] {
  return watch.filter(({ network }) => network.contract === null);
}

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
 * Finds transfers of the native asset by contracts, which no scan of blocks shows: at the cursor, a balance is higher
 * than the balance before and all top-level transactions since explain. Where the node traces, the transfer is
 * recorded; otherwise the rise becomes a finding.
 * @param finalHeight Older balances than this are no longer needed.
 * @param timing As of `recordSeen`. A rise that is dust needs no explanation.
 * @param dust Dust in the blocks up to the cursor; it is cleared.
 * @param misses Counts traces that a node fails to show.
 * @throws NodeFailure, LeaseLost.
 */
export async function findInternalTransfers(
  watcher: Watcher,
  node: Node,
  watch: readonly WatchedAddress[],
  cursor: Pinned,
  by: {
    readonly finalHeight: number;
    readonly timing: Timing;
    readonly dust: NativeDust;
    readonly misses: Misses;
  },
): Promise<void> {
  const { finalHeight, timing, dust, misses } = by;
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
    increases.push(...(await findIncreases(subject, group, own, height)));
  }
  await explain(watcher, node, { internal: adapter.internal, native, timing, misses }, increases);
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
): Promise<NativeBalance[]> {
  if (addresses.length === 0) return [];
  const balances = await internal.readBalances(node, { height, hash, addresses });
  // Without a balance here, the next look compares with the balance before.
  return addresses.flatMap((address, index) => {
    const balance = balances[index] ?? null;
    return balance === null ? [] : [{ address, height, balance }];
  });
}

interface Explaining {
  readonly internal: InternalTransfers;
  readonly native: readonly WatchedAddress[];
  readonly timing: Timing;
  readonly misses: Misses;
}

/** Records the transfers that a trace shows; unexplained rises become findings. */
async function explain(
  watcher: Watcher,
  node: Node,
  { internal, native, timing, misses }: Explaining,
  increases: readonly Increase[],
): Promise<void> {
  for (const [height, group] of Map.groupBy(increases, ({ height }) => height)) {
    const traced = (await trace(internal, node, height, native, misses))?.transfers ?? [];
    await recordSeen(watcher, traced, timing);
    for (const { address, amount } of group) {
      const explained = traced
        .filter(transfer => transfer.address === address)
        .reduce((sum, { tokenAmount }) => sum + tokenAmount, 0n);
      if (explained < amount) {
        await reportUnexplained(watcher, { address, height, amount: amount - explained });
      }
    }
  }
}

/**
 * null where the node does not trace, no longer has the state that a trace needs, or fails to show the trace in several
 * looks: then it keeps no other payment waiting.
 */
async function trace(
  internal: InternalTransfers,
  node: Node,
  height: number,
  native: readonly WatchedAddress[],
  misses: Misses,
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

/** Adds a finding for the operator, and events for the merchants whose address it is. */
async function reportUnexplained(
  { chain, clock, lease, log }: Watcher,
  { address, height, amount }: Increase,
): Promise<void> {
  const id = newId();
  const isNew = await lease.writeBeside(async tx => {
    const now = new Date(clock());
    const added = await addFinding(
      tx,
      {
        id,
        chain: chain.id,
        kind: 'unexplained_inflow',
        blockchainId: chain.id,
        address,
        amount,
        height,
        detail: `The balance rose by ${amount} more than the transactions of the block explain: a contract has sent it, and the node does not trace it.`,
      },
      now,
    );
    const inflow = { id, blockchainId: chain.id, address, tokenAmount: amount };
    if (added) await addUntraceableEvents(tx, inflow, now);
    return added;
  });
  if (isNew) log.warn({ chain: chain.id, address, height }, 'unexplained inflow');
}
