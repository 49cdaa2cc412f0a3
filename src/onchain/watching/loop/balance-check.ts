import type { Node } from '#chains/nodes/node.ts';
import { inParts } from '#chains/ranges.ts';
import type { Block, WatchedAddress } from '#chains/transfer.ts';
import {
  listBalances,
  putBalances,
  trimBalances,
} from '#storage/repositories/chains/held-balances.ts';
import { listEndingPlaces } from '#storage/repositories/chains/watch-list.ts';
import { sumArrivals } from '#storage/repositories/deposits/watched-deposits.ts';
import type { Watcher } from '../watcher.ts';
import { STATE_KEPT } from './balance-increases.ts';
import { explainRises, type Rise } from './explain-rises.ts';
import { createPeriod } from './period.ts';
import { proveRise } from './prove-rise.ts';
import type { Round } from './round.ts';
import { reportUnexplained } from './unexplained.ts';
import { reportUnreadable } from './unreadable.ts';

/** How often all balances are compared if one call reads hundreds of them (EVM), in milliseconds. */
const EVERY_MS = 60_000;
/** Maximum number of payment ends that one tick considers: more than there are within seconds. */
const ENDING_MAXIMUM = 1_000;

/**
 * Compares the balances of addresses with their recorded transfers before payments there expire: a node that omits a
 * transfer without an error still shows the balance that it made.
 */
interface BalanceCheck {
  /**
   * Reads the balances of addresses that have joined the watch list, before later blocks are scanned: from then on
   * each rise has to be explained.
   * @throws NodeFailure, LeaseLost.
   */
  noteJoined(round: Round, watch: readonly WatchedAddress[]): Promise<void>;
  /**
   * Compares the balances of addresses at which payments end. If a node shows the transfers behind a rise, they are
   * recorded. If no node explains it, not even in the next round, it becomes a finding, which holds the payments of
   * its address.
   * @param reached The last block that was scanned twice, and up to when payments may expire by that.
   * @returns Up to when payments may expire whose balances have been compared; null if that cannot be done yet.
   * @throws NodeFailure, LeaseLost.
   */
  run(
    round: Round,
    watch: readonly WatchedAddress[],
    reached: { readonly swept: Pick<Block, 'height' | 'hash'>; readonly until: Date },
  ): Promise<Date | null>;
}

/** The balance of a watched address after a block. */
interface Holding {
  readonly watched: WatchedAddress;
  readonly height: number;
  /** Integer of the asset's smallest unit. */
  readonly balance: bigint;
}

export function createBalanceCheck(watcher: Watcher): BalanceCheck {
  const { adapter, chain, clock, db, lease } = watcher;
  const { holdings } = adapter;
  const isEvm = chain.family === 'evm';
  const looks = createPeriod(clock, EVERY_MS);
  /**
   * Addresses whose rise was unexplained in the last comparison. They are compared once more: a node may err for a
   * moment.
   */
  let doubted: ReadonlySet<string> = new Set();
  // The native asset of EVM chains is compared with every block's transactions: see `internal-transfers.ts`.
  const isCompared = ({ network }: WatchedAddress) =>
    network.contract !== null || adapter.internal === undefined;

  return {
    async noteJoined({ state, node, heads }, watch) {
      const { cursor_height: cursor, cursor_hash: hash } = state;
      if (holdings === undefined || cursor === null || hash === null) return;
      // A node has no balances of older blocks. They are read once the chain has caught up.
      if (isEvm && heads.tip.height - cursor > STATE_KEPT) return;
      const own = watch.filter(isCompared);
      const known = await listKnown(own);
      const joined = own.filter(each => !known.has(keyOf(each)));
      if (joined.length === 0) return;
      const height = isEvm ? cursor : Math.min(cursor, heads.finalHeight ?? cursor);
      await put(await read(node, { height, hash }, joined));
    },

    async run(round, watch, { swept, until }) {
      if (holdings === undefined) return until;
      const { state, heads } = round;
      // A node does not have the balances of blocks that were scanned long ago either.
      if (isEvm && heads.tip.height - swept.height > STATE_KEPT) return null;
      const own = watch.filter(isCompared);
      const between = { after: state.expires_until, by: until };
      const ending = await listEndingPlaces(db, chain.id, between, ENDING_MAXIMUM);
      const places = new Set(
        ending.map(({ blockchainId, address }) => `${blockchainId} ${address}`),
      );
      const isRegular = isEvm && looks.isDue();
      const isDue = (key: string) => isRegular || places.has(key) || doubted.has(key);
      const due = own.filter(each => isDue(keyOf(each)));
      doubted = due.length > 0 ? await compare(round, swept, due) : new Set();
      if (isRegular) looks.start();
      if (due.length > 0) await trim(own, heads.finalHeight ?? swept.height);
      if (doubted.size > 0) return null;
      const last = ending.at(-1);
      const isCut = ending.length === ENDING_MAXIMUM && last !== undefined;
      return isCut ? new Date(last.endsAt.getTime() - 1) : until;
    },
  };

  /** @returns Keys of the addresses to compare once more. */
  async function compare(
    round: Round,
    block: Pick<Block, 'height' | 'hash'>,
    due: readonly WatchedAddress[],
  ): Promise<ReadonlySet<string>> {
    const before = await listKnown(due);
    const held = await read(round.node, block, due);
    const rises: Rise[] = [];
    const spans = Map.groupBy(
      held,
      each =>
        `${each.watched.network.id} ${before.get(keyOf(each.watched))?.height} ${each.height}`,
    );
    for (const own of spans.values()) rises.push(...(await findRises(own, before)));
    const again = new Set<string>();
    for (const { amount, ...rise } of await explainRises(watcher, round, rises)) {
      const { watched, from, to } = rise;
      if (amount === null) {
        const detail = `What moved the balance in the blocks ${from + 1} to ${to} cannot be read.`;
        await report([watched], detail, { from, to });
        continue;
      }
      if (!doubted.has(keyOf(watched))) {
        again.add(keyOf(watched));
        continue;
      }
      if (await proveRise(watcher, round, { ...rise, amount })) continue;
      await reportUnexplained(watcher, {
        network: watched.network.id,
        address: watched.address,
        amount,
        from,
        to,
        detail: `The balance rose by ${amount} more than the transfers explain that any node shows: a node leaves one out.`,
      });
    }
    await put(held.filter(({ watched }) => !again.has(keyOf(watched))));
    return again;
  }

  /** Changes of balances that were last read at the same height, also of those that seem not to have changed. */
  async function findRises(
    own: readonly Holding[],
    before: ReadonlyMap<string, Holding>,
  ): Promise<Rise[]> {
    const [first] = own;
    const start = first && before.get(keyOf(first.watched));
    if (first === undefined || start === undefined || start.height >= first.height) return [];
    const range = { from: start.height, to: first.height };
    const addresses = own.map(({ watched }) => watched.address);
    const arrived = await sumArrivals(db, first.watched.network.id, range, addresses);
    return own.map(({ watched, balance }) => {
      const start = before.get(keyOf(watched))?.balance ?? 0n;
      const recorded = arrived.get(watched.address) ?? 0n;
      return { watched, ...range, before: start, by: balance - start, recorded };
    });
  }

  /** Reads balances. An address whose balance cannot be read becomes a finding, which holds its payments. */
  async function read(
    node: Node,
    block: Pick<Block, 'height' | 'hash'>,
    watch: readonly WatchedAddress[],
  ): Promise<Holding[]> {
    if (holdings === undefined) return [];
    const held: Holding[] = [];
    for (const own of inParts(watch, holdings.together ?? watch.length)) {
      const { height, balances } = await holdings.read(node, block, own);
      for (const [index, watched] of own.entries()) {
        const balance = balances[index] ?? null;
        if (balance === null) await report([watched], 'What the address holds cannot be read.');
        else held.push({ watched, height, balance });
      }
    }
    return held;
  }

  /**
   * Adds a finding, which holds the payments of these addresses.
   * @param range Blocks that may explain the balance when they are read again; default: none.
   */
  async function report(
    watched: readonly WatchedAddress[],
    detail: string,
    range?: { readonly from: number; readonly to: number },
  ): Promise<void> {
    const where =
      range === undefined ? { height: null } : { height: range.to, sinceHeight: range.from };
    const unreadable = [{ transactionHash: null, ...where, watched, detail }];
    await reportUnreadable(db, chain.id, unreadable, new Date(clock()));
  }

  /** The last known holdings, by network and address. */
  async function listKnown(
    watch: readonly WatchedAddress[],
  ): Promise<ReadonlyMap<string, Holding>> {
    const known = new Map<string, Holding>();
    for (const [id, own] of Map.groupBy(watch, ({ network }) => network.id)) {
      const byAddress = new Map(own.map(each => [each.address, each]));
      for (const { address, ...held } of await listBalances(db, id, [...byAddress.keys()])) {
        const watched = byAddress.get(address);
        if (watched !== undefined) known.set(keyOf(watched), { watched, ...held });
      }
    }
    return known;
  }

  async function put(held: readonly Holding[]): Promise<void> {
    await lease.write(async tx => {
      for (const [id, own] of Map.groupBy(held, ({ watched }) => watched.network.id)) {
        const balances = own.map(({ watched, ...each }) => ({ address: watched.address, ...each }));
        await putBalances(tx, id, balances);
      }
    });
  }

  async function trim(watch: readonly WatchedAddress[], finalHeight: number): Promise<void> {
    await lease.writeBeside(async tx => {
      for (const [id, own] of Map.groupBy(watch, ({ network }) => network.id)) {
        const addresses = own.map(({ address }) => address);
        await trimBalances(tx, id, finalHeight, addresses);
      }
    });
  }
}

function keyOf({ network, address }: WatchedAddress): string {
  return `${network.id} ${address}`;
}
