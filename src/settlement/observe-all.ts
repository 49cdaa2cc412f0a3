import type { Connection } from '../database/connection.ts';
import type { Deposit, DepositOutcome } from '../database/deposit-tables.ts';
import { movePayments } from '../payments/move-payment.ts';
import { findDeposits, lockTransfers, saveDeposits } from '../repositories/deposits/deposits.ts';
import { lockHolders } from '../repositories/deposits/reservations.ts';
import { CHAIN_ACTOR, moveFor } from './apply-deposit.ts';
import { isExact } from './match-payment.ts';
import { isToldOtherwise, observeIn, observeLocked } from './observe-transfer.ts';
import { newDeposit, type ObservedTransfer, placeOf } from './observed-transfer.ts';

/** Outcomes of deposits that confirm their payments whatever else has arrived. */
const SUFFICIENT: readonly DepositOutcome[] = ['exact', 'over', 'tolerated'];

/** A report, and the deposit that it is about if that is known. */
interface Told {
  readonly transfer: ObservedTransfer;
  readonly known: Deposit | undefined;
}

/**
 * Records transfers as `observeIn` does one after the other. All of their
 * addresses are locked first. Almost every transfer is of an exact amount and becomes final later, and those are recorded
 * together, by the same few statements however many they are. Transfers to one address can affect one
 * another, so an address is taken this way only if all of its transfers are simple.
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
  const told = transfers.map(transfer => ({
    transfer,
    known: deposits.find(deposit => isOf(deposit, transfer)),
  }));
  if (told.some(({ known, transfer }) => known !== undefined && isToldOtherwise(known, transfer))) {
    for (const transfer of transfers) await observeIn(tx, transfer, now);
    return;
  }
  const fresh = told.filter(isNew).map(({ transfer }) => transfer);
  const holders = await lockHolders(tx, fresh);
  const exact = new Map<ObservedTransfer, string>();
  for (const [index, transfer] of fresh.entries()) {
    const holder = holders[index];
    const { occurredAt, earliestAt = occurredAt } = transfer;
    if (isExact(holder, transfer, earliestAt)) exact.set(transfer, holder.paymentId);
  }
  const paymentOf = (each: Told) =>
    isSufficient(each) ? each.known?.payment_id : exact.get(each.transfer);
  const simple = [...Map.groupBy(told, addressOf).values()]
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
      return { ...row, state: transfer.finality, ...placeOf(transfer, now) };
    });
    if (rows.length === 0) continue;
    const requests = (await saveDeposits(tx, rows)).map(deposit => ({
      ...{ paymentId: deposit.payment_id ?? '', actor: CHAIN_ACTOR, now },
      ...moveFor(deposit, undefined, now),
    }));
    const moved = await movePayments(tx, requests);
    if (moved.length < rows.length) throw new Error('a payment has ended before its deposit');
  }
  for (const each of told) {
    if (!simple.includes(each)) await observeLocked(tx, each.transfer, each.known, now);
  }
}

function keyOf({ blockchainId, transactionHash, position }: ObservedTransfer): string {
  return `${blockchainId} ${transactionHash} ${position}`;
}

function addressOf({ transfer: { blockchainId, address } }: Told): string {
  return `${blockchainId} ${address}`;
}

function isOf(deposit: Deposit, { blockchainId, transactionHash, position }: ObservedTransfer) {
  const { blockchain_id: network, transaction_hash: hash } = deposit;
  return network === blockchainId && hash === transactionHash && deposit.position === position;
}

function isNew({ transfer: { finality, references = [] }, known }: Told): boolean {
  return known === undefined && finality === 'seen' && references.length === 0;
}

function isSufficient({ transfer, known }: Told): boolean {
  if (transfer.finality !== 'final' || known?.state !== 'seen') return false;
  if (known.payment_id === null) return false;
  return SUFFICIENT.includes(known.outcome);
}
