import type { Arrival } from '#chains/adapter.ts';
import type { ChainTransfer } from '#chains/transfer.ts';
import type { Connection } from '#storage/database/connection.ts';
import { LATE_FOR_MS } from '#time/late-window.ts';
import type { ObservedTransfer } from '../../settlement/observed-transfer.ts';
import { weighTransfers } from '../../settlement/weigh-transfers.ts';
import type { Watcher } from '../watcher.ts';
import { type LastPoll, occurredAt } from './occurred-at.ts';
import { recordTransfers, toObserved } from './record-transfers.ts';

/** The times by which found transfers are judged. */
export interface Timing {
  /** The previous poll, by which the time of the transfers is determined. */
  readonly last: LastPoll;
  /** Amounts count as requested if they were still reserved after this time. */
  readonly askedSince: Date;
  /** The latest time at which the transfers were made; default: now. */
  readonly madeBy?: Date | undefined;
  /** When the transfers were seen; default: now. */
  readonly seenAt?: Date;
  /** Reversals that follow from the found transfers, recorded together with them; default: none. */
  readonly reversed?: readonly ObservedTransfer[];
}

/**
 * Since when amounts count as requested. This includes amounts of payments that ended within a day before.
 * @param madeAt The earliest time at which the transfers were made, for instance the time up to which everything is
 * recorded; null for now.
 */
export function askedSince(
  { chain, clock }: Pick<Watcher, 'chain' | 'clock'>,
  madeAt: Date | null,
): Date {
  const earliest = Math.min(clock(), madeAt?.getTime() ?? clock());
  return new Date(earliest - LATE_FOR_MS - chain.clockSkewMs);
}

/**
 * Records transfers that were found in a block or in the mempool, except for dust.
 * @param after Runs in the last transaction, and gets the dust.
 * @throws As `record`.
 */
export async function recordSeen(
  watcher: Watcher,
  transfers: readonly ChainTransfer[],
  { last, askedSince: since, madeBy, seenAt, reversed = [] }: Timing,
  after?: (tx: Connection, dust: readonly Arrival[]) => Promise<void>,
): Promise<void> {
  const { chain, clock, db } = watcher;
  const weights = await weighTransfers(db, transfers, { since, madeBy });
  const dust = transfers.filter((_, index) => weights[index] === 'dust');
  const now = seenAt ?? new Date(clock());
  const observed = transfers
    .filter((_, index) => weights[index] !== 'dust')
    .map(transfer => toObserved(transfer, 'seen', occurredAt(chain, transfer, last, now)));
  await recordTransfers(watcher, [...reversed, ...observed], after && (tx => after(tx, dust)));
}
