import type { Arrival, Heads, ScanRequest } from '#chains/adapter.ts';
import { type Node, NodeFailure } from '#chains/nodes/node.ts';
import type { Block, ChainTransfer, WatchedAddress } from '#chains/transfer.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { ChainState } from '#storage/database/watching-tables.ts';
import { addToRing, trimRing } from '#storage/repositories/chains/blocks.ts';
import { updateChain } from '#storage/repositories/chains/chains.ts';
import {
  type UnsettledDeposit,
  unplaceOther,
} from '#storage/repositories/deposits/watched-deposits.ts';
import { weighTransfers } from '../../settlement/weigh-transfers.ts';
import type { Watcher } from '../watcher.ts';
import { countDust } from './count-dust.ts';
import { type LastPoll, occurredAt } from './occurred-at.ts';
import { recordSeen, type Timing } from './record-seen.ts';
import { recordTransfers, toObserved, toReported } from './record-transfers.ts';
import { reportUnreadable } from './unreadable.ts';

/** Maximum time that one tick scans, in milliseconds. What was found is settled before the scan goes on. */
const SCAN_MS = 30_000;

/** Context of one pass over a chain's blocks. */
export interface Pass {
  readonly node: Node;
  readonly heads: Heads;
  /** Read after the newest block. */
  readonly watch: readonly WatchedAddress[];
  /** As in `Timing`. */
  readonly askedSince: Date;
  /** As in `Timing`. */
  readonly madeBy?: Date | undefined;
  /**
   * Deposits in no block up to the cursor. They are reversed if another transaction in these blocks spends their
   * inputs (Bitcoin).
   */
  readonly dependent?: readonly UnsettledDeposit[];
  /** As in `ScanRequest`. */
  readonly isSecondLook?: true;
  /** Gets the dust of blocks up to the tip, with the hash of the last block that was scanned with them. */
  readonly noteDust?: (dust: readonly Arrival[], through: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Scans the blocks after the cursor up to the tip. Moves the cursor in the last transaction that records their
 * transfers.
 * @returns The last block that was scanned; the tip, unless there was too much. undefined if the cursor is at the
 * tip.
 * @throws NodeFailure, LeaseLost.
 */
export async function scanToTip(
  watcher: Watcher,
  state: ChainState,
  pass: Pass,
): Promise<Block | undefined> {
  const { chain } = watcher;
  const { tip, finalHeight } = pass.heads;
  const from = (state.cursor_height ?? tip.height) + 1;
  const range = { from, to: tip.height, parentHash: state.cursor_hash };
  return scanParts(watcher, pass, range, state, async (tx, scanned) => {
    const { through: block, dust } = scanned;
    await unplaceOther(tx, chain.id, scanned, new Date(watcher.clock()));
    // On other chains the second look counts dust, which happens once.
    if (watcher.adapter.looksOnce === true) await countDust(watcher, tx, dust);
    pass.noteDust?.(dust, block.hash);
    await addToRing(tx, ringEntry(chain.id, block));
    await trimRing(tx, chain.id, chain.ring, finalHeight);
    await updateChain(tx, chain.id, {
      cursor_height: block.height,
      cursor_hash: block.hash,
      swept_height: state.swept_height ?? state.cursor_height ?? block.height,
    });
  });
}

type Range = Pick<ScanRequest, 'from' | 'to' | 'parentHash'>;

/** The result of scanning a part of a range, from the height `from` to the block `through`. */
interface Scanned {
  readonly from: number;
  readonly through: Block;
  readonly dust: readonly Arrival[];
  /** Hashes of the blocks with transfers. */
  readonly hashes: readonly string[];
}

type Advance = (tx: Connection, scanned: Scanned) => Promise<void>;

/**
 * Scans a range part by part, for `SCAN_MS` at most.
 * @param advance As for `scanRange`.
 * @returns The last block that was scanned; undefined if there was none.
 */
export async function scanParts(
  watcher: Watcher,
  pass: Pass,
  { from, to, parentHash = null }: Range,
  last: LastPoll,
  advance: Advance,
): Promise<Block | undefined> {
  const until = watcher.clock() + SCAN_MS;
  let through: Block | undefined;
  let next = from;
  while (next <= to && !pass.signal.aborted && watcher.clock() < until) {
    const part = { from: next, to, parentHash: through?.hash ?? parentHash };
    through = await scanRange(watcher, pass, part, last, advance);
    next = through.height + 1;
  }
  return through;
}

/** The row of the ring for a block. */
export function ringEntry(chain: string, { height, hash, time }: Block) {
  return { chain, height, hash, at: time };
}

/**
 * Scans as many blocks of a range as the adapter takes at once, and records their transfers: those that payments wait
 * for as soon as they are found, all others afterwards.
 * @param advance Runs in the last transaction, and gets what was scanned.
 */
export async function scanRange(
  watcher: Watcher,
  pass: Pass,
  range: Range,
  last: LastPoll,
  advance: Advance,
): Promise<Block> {
  const { adapter, chain, clock, db } = watcher;
  const { node, heads, watch, dependent = [], isSecondLook, madeBy } = pass;
  const { askedSince: since } = pass;
  const timing: Timing = { last, askedSince: since, madeBy };
  const request: ScanRequest = {
    ...range,
    watch,
    ...(isSecondLook && { isSecondLook }),
    ...(dependent.length > 0 && { dependents: dependent.map(toDependent) }),
    undoableFrom: heads.finalHeight === null ? range.from : heads.finalHeight + 1,
    weigh: arrivals => weighTransfers(db, arrivals, { since, madeBy }),
    takeAwaited: transfers => {
      const now = new Date(clock());
      const at = (transfer: ChainTransfer) => occurredAt(chain, transfer, last, now);
      return recordTransfers(
        watcher,
        transfers.map(transfer => toObserved(transfer, 'seen', at(transfer))),
      );
    },
  };
  const scan = await adapter.scan(node, request);
  const { through, transfers, dust = [], unreadable = [] } = scan;
  if (through.height < range.from || through.height > range.to) {
    throw new NodeFailure(`${node.label} scanned up to ${through.height}, which was not asked`);
  }
  const hashes = transfers.flatMap(({ block }) => block?.hash ?? []);
  const undone = dependent.filter(each => scan.conflicts?.has(each.transaction_hash));
  const reversed = undone.map(deposit => toReported(deposit, 'reversed'));
  await recordSeen(watcher, transfers, { ...timing, reversed }, async (tx, more) => {
    await reportUnreadable(tx, chain.id, unreadable, new Date(clock()));
    await advance(tx, { from: range.from, through, dust: [...dust, ...more], hashes });
  });
  return through;
}

function toDependent({ transaction_hash: id, inputs, ancestry }: UnsettledDeposit) {
  return { id, inputs, ancestry };
}
