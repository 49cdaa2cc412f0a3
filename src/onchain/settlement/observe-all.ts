import { movePayments } from '#payments/move-payment.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { Deposit, DepositOutcome } from '#storage/database/deposit-tables.ts';
import {
  findDeposits,
  lockTransfers,
  saveDeposits,
} from '#storage/repositories/deposits/deposits.ts';
import { lockHolders } from '#storage/repositories/deposits/reservations.ts';
import { CHAIN_ACTOR } from './apply-deposit.ts';
import { moveFor } from './deposit-moves.ts';
import { isExact } from './match-payment.ts';
import { isReportedOtherwise, observeIn, observeLocked } from './observe-transfer.ts';
import { blockColumns, newDeposit, type ObservedTransfer } from './observed-transfer.ts';

/** Outcomes of deposits that confirm their payments independently of other deposits. */
const SUFFICIENT: readonly DepositOutcome[] = ['exact', 'over', 'tolerated'];

/** A reported transfer, and its deposit if it is recorded already. */
interface Report {
  readonly transfer: ObservedTransfer;
  readonly known: Deposit | undefined;
}

/**
 * Records transfers with the same effect as calling `observeIn` for each in turn, and locks all of their addresses
 * first. Almost every transfer has an exact amount and becomes final later. Such transfers are recorded together, by
 * a few statements for any number of them. Transfers to one address can affect one another, so this applies only to
 * addresses all of whose transfers are simple. Any other transfer may be for a former quote at another address, so it
 * is recorded in its place in the order.
 * @throws Error if a payment has ended before its deposit is final: then record them one by one.
 */
export async function observeAll(
  tx: Connection,
  transfers: readonly ObservedTransfer[],
  now: Date,
): Promise<void> {
  if (transfers.length === 0) return;
  await lockTransfers(tx, transfers);
  // A reversal changes other deposits, which then have to be read again.
  const isUndone = transfers.some(({ finality }) => finality === 'reversed');
  if (isUndone || new Set(transfers.map(keyOf)).size < transfers.length) {
    for (const transfer of transfers) await observeIn(tx, transfer, now);
    return;
  }
  const deposits = await findDeposits(tx, transfers);
  let left: readonly Report[] = transfers.map(transfer => ({
    transfer,
    known: deposits.find(deposit => isOf(deposit, transfer)),
  }));
  if (
    left.some(({ known, transfer }) => known !== undefined && isReportedOtherwise(known, transfer))
  ) {
    for (const transfer of transfers) await observeIn(tx, transfer, now);
    return;
  }
  while (left.length > 0) {
    const simple = await findSimple(tx, left);
    const isSimple = (each: Report) => simple.has(each);
    const alike = firstWhile(left, isSimple);
    await recordSimple(tx, alike, simple, now);
    const others = firstWhile(left.slice(alike.length), each => !isSimple(each));
    for (const { transfer, known } of others) await observeLocked(tx, transfer, known, now);
    left = left.slice(alike.length + others.length);
  }
}

/** The reports that can be recorded together, with the IDs of their payments. */
async function findSimple(
  tx: Connection,
  reports: readonly Report[],
): Promise<ReadonlyMap<Report, string>> {
  const fresh = reports.filter(isNew);
  const holders = await lockHolders(
    tx,
    fresh.map(({ transfer }) => transfer),
  );
  const paymentOf = new Map<Report, string>();
  for (const each of reports) {
    if (isSufficient(each) && each.known?.payment_id) paymentOf.set(each, each.known.payment_id);
  }
  for (const [index, each] of fresh.entries()) {
    const holder = holders[index];
    const { transfer } = each;
    const { occurredAt, earliestAt = occurredAt } = transfer;
    if (isExact(holder, transfer, earliestAt)) paymentOf.set(each, holder.paymentId);
  }
  for (const own of Map.groupBy(reports, addressOf).values()) {
    const payments = new Set(own.map(each => paymentOf.get(each)));
    if (payments.size === own.length && !payments.has(undefined)) continue;
    for (const each of own) paymentOf.delete(each);
  }
  return paymentOf;
}

/** @param paymentOf As `findSimple` returns it. */
async function recordSimple(
  tx: Connection,
  reports: readonly Report[],
  paymentOf: ReadonlyMap<Report, string>,
  now: Date,
): Promise<void> {
  for (const alike of [reports.filter(isNew), reports.filter(isSufficient)]) {
    const rows = alike.map(each => {
      const { transfer, known } = each;
      const matched = { outcome: 'exact', payment_id: paymentOf.get(each) ?? null } as const;
      const row = known ?? newDeposit(transfer, matched, now);
      return { ...row, state: transfer.finality, ...blockColumns(transfer, now) };
    });
    if (rows.length === 0) continue;
    const requests = (await saveDeposits(tx, rows)).map(deposit => ({
      paymentId: deposit.payment_id ?? '',
      actor: CHAIN_ACTOR,
      now,
      ...moveFor(deposit, undefined, now),
    }));
    const moved = await movePayments(tx, requests);
    if (moved.length < rows.length) throw new Error('a payment has ended before its deposit');
  }
}

function firstWhile<T>(all: readonly T[], condition: (each: T) => boolean): readonly T[] {
  const end = all.findIndex(each => !condition(each));
  return end === -1 ? all : all.slice(0, end);
}

function keyOf({ blockchainId, transactionHash, position }: ObservedTransfer): string {
  return `${blockchainId} ${transactionHash} ${position}`;
}

function addressOf({ transfer: { blockchainId, address } }: Report): string {
  return `${blockchainId} ${address}`;
}

function isOf(deposit: Deposit, { blockchainId, transactionHash, position }: ObservedTransfer) {
  const { blockchain_id: network, transaction_hash: hash } = deposit;
  return network === blockchainId && hash === transactionHash && deposit.position === position;
}

function isNew({ transfer: { finality, references = [] }, known }: Report): boolean {
  return known === undefined && finality === 'seen' && references.length === 0;
}

function isSufficient({ transfer, known }: Report): boolean {
  if (transfer.finality !== 'final' || known?.state !== 'seen') return false;
  if (known.payment_id === null) return false;
  return SUFFICIENT.includes(known.outcome);
}
