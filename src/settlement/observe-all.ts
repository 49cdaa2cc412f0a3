import type { Connection } from '../database/connection.ts';
import type { Deposit, DepositOutcome } from '../database/deposit-tables.ts';
import { movePayments } from '../payments/move-payment.ts';
import { findDeposits, lockTransfers, saveDeposits } from '../repositories/deposits/deposits.ts';
import { lockHolders } from '../repositories/deposits/reservations.ts';
import { CHAIN_ACTOR, moveFor } from './apply-deposit.ts';
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
 * Records transfers, with the same effect as `observeIn` for one after the other. It locks all of their addresses
 * first. Almost every transfer has an exact amount and becomes final later: those are recorded together, by a few
 * statements for any number of them. Transfers to one address can affect one another, so this applies only to
 * addresses all of whose transfers are simple.
 * @throws Error where a payment has ended before its deposit is final: then record them one by one.
 */
export async function observeAll(
  tx: Connection,
  transfers: readonly ObservedTransfer[],
  now: Date,
): Promise<void> {
  if (transfers.length === 0) return;
  await lockTransfers(tx, transfers);
  // What is undone changes other deposits, which then have to be read again.
  const isUndone = transfers.some(({ finality }) => finality === 'reversed');
  if (isUndone || new Set(transfers.map(keyOf)).size < transfers.length) {
    for (const transfer of transfers) await observeIn(tx, transfer, now);
    return;
  }
  const deposits = await findDeposits(tx, transfers);
  const reports = transfers.map(transfer => ({
    transfer,
    known: deposits.find(deposit => isOf(deposit, transfer)),
  }));
  if (
    reports.some(
      ({ known, transfer }) => known !== undefined && isReportedOtherwise(known, transfer),
    )
  ) {
    for (const transfer of transfers) await observeIn(tx, transfer, now);
    return;
  }
  const fresh = reports.filter(isNew).map(({ transfer }) => transfer);
  const holders = await lockHolders(tx, fresh);
  const exact = new Map<ObservedTransfer, string>();
  for (const [index, transfer] of fresh.entries()) {
    const holder = holders[index];
    const { occurredAt, earliestAt = occurredAt } = transfer;
    if (isExact(holder, transfer, earliestAt)) exact.set(transfer, holder.paymentId);
  }
  const paymentOf = (each: Report) =>
    isSufficient(each) ? each.known?.payment_id : exact.get(each.transfer);
  const simple = [...Map.groupBy(reports, addressOf).values()]
    .filter(own => {
      const payments = new Set(own.map(paymentOf));
      return payments.size === own.length && !payments.has(undefined);
    })
    .flat();
  for (const alike of [simple.filter(isNew), simple.filter(isSufficient)]) {
    const rows = alike.map(each => {
      const { transfer, known } = each;
      const matched = { outcome: 'exact', payment_id: paymentOf(each) ?? null } as const;
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
  for (const each of reports) {
    if (!simple.includes(each)) await observeLocked(tx, each.transfer, each.known, now);
  }
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
