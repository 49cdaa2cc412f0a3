import type { Connection, Database } from '#storage/database/connection.ts';
import type { Deposit, DepositState } from '#storage/database/deposit-tables.ts';
import { transact } from '#storage/database/transaction.ts';
import {
  findDeposits,
  insertDeposit,
  lockAddresses,
  lockTransfers,
  updateDeposit,
} from '#storage/repositories/deposits/deposits.ts';
import { applyDeposit, CHAIN_ACTOR } from './apply-deposit.ts';
import { differs, NOT_VALUED, reportCorrection } from './correct-deposit.ts';
import { type DepositMatch, matchPayment } from './match-payment.ts';
import { blockColumns, newDeposit, type ObservedTransfer, timeOf } from './observed-transfer.ts';
import { rematch, rematchForReopened } from './rematch.ts';
import { addUnmatchedEvents } from './unmatched-events.ts';

const NO_MATCH: DepositMatch = { outcome: 'unknown', payment_id: null };

/**
 * Allowed transitions; other reports of a known deposit are ignored. A failed transaction may still
 * succeed in a block that replaces the one it failed in.
 */
const NEXT_STATES: Readonly<Record<DepositState, readonly DepositState[]>> = {
  seen: ['final', 'reversed', 'failed'],
  reversed: ['seen', 'final', 'failed'],
  final: [],
  failed: ['seen', 'final'],
};

/**
 * Records a transfer as a deposit, matches it to a payment and moves that payment as the transfer
 * changes. Idempotent: a transfer may be reported repeatedly and in any order.
 * @param actor Actor in the payment's history.
 * @returns The current deposit.
 */
export function observeTransfer(
  db: Database,
  transfer: ObservedTransfer,
  now: Date,
  actor = CHAIN_ACTOR,
): Promise<Deposit> {
  return transact(db, tx => observeIn(tx, transfer, now, actor));
}

/**
 * `observeTransfer` within an open transaction. A transaction that observes several transfers has to lock the addresses
 * of all of them before the first (`lockTransfers`).
 */
export async function observeIn(
  tx: Connection,
  transfer: ObservedTransfer,
  now: Date,
  actor = CHAIN_ACTOR,
): Promise<Deposit> {
  await lockTransfers(tx, [transfer]);
  const [known] = await findDeposits(tx, [transfer]);
  return observeLocked(tx, transfer, known, now, actor);
}

/**
 * `observeIn` for an address that the transaction has locked.
 * @param known The deposit as it is since the lock was taken; undefined for a new one.
 */
export async function observeLocked(
  tx: Connection,
  transfer: ObservedTransfer,
  known: Deposit | undefined,
  now: Date,
  actor = CHAIN_ACTOR,
): Promise<Deposit> {
  const deposit = await apply(tx, known, transfer, { now, actor });
  if (known?.state !== 'final' && isUnmatched(deposit)) await addUnmatchedEvents(tx, deposit, now);
  return deposit;
}

/** Whether final funds belong to no payment, and are not settled elsewhere either. */
function isUnmatched({ state, payment_id, dismissed_at }: Deposit): boolean {
  return state === 'final' && payment_id === null && dismissed_at === null;
}

async function apply(
  tx: Connection,
  known: Deposit | undefined,
  transfer: ObservedTransfer,
  { now, actor }: { readonly now: Date; readonly actor: string },
): Promise<Deposit> {
  if (known === undefined)
    return applyDeposit(tx, await insertObserved(tx, transfer, now), now, actor);
  if (isReportedOtherwise(known, transfer)) {
    // A single wrong response must not take a payment's funds away.
    const isDoubtful = known.state === 'seen' && transfer.isCorrection !== true;
    const nowhere = { block_height: null, block_hash: null, updated_at: now };
    if (isDoubtful) return updateDeposit(tx, known.id, nowhere);
    return recordAnew(tx, known, transfer, { now, actor });
  }
  if (hasMoved(known, transfer)) return updateDeposit(tx, known.id, blockColumns(transfer, now));
  if (!NEXT_STATES[known.state].includes(transfer.finality)) return known;
  const deposit = await updateDeposit(tx, known.id, {
    ...(canRematch(known, transfer) ? await rematch(tx, known, transfer.references) : {}),
    state: transfer.finality,
    ...blockColumns(transfer, now),
  });
  const applied = await applyDeposit(tx, deposit, now, actor);
  if (transfer.finality === 'reversed' && deposit.payment_id !== null) {
    await rematchForReopened(tx, deposit, deposit.payment_id, { now, actor });
  }
  return applied;
}

/**
 * Corrects a final deposit that was credited to no payment: it is changed to what the chain shows. If more than its
 * block differs, it is matched again, unless it was dismissed, and another event is added.
 * @returns The deposit; undefined if it is not final any more, or has a payment by now.
 */
export async function correctFinal(
  tx: Connection,
  transfer: ObservedTransfer,
  now: Date,
  actor: string,
): Promise<Deposit | undefined> {
  await lockTransfers(tx, [transfer]);
  const [known] = await findDeposits(tx, [transfer]);
  if (known?.state !== 'final' || known.payment_id !== null) return undefined;
  if (!differs(known, transfer)) return updateDeposit(tx, known.id, blockColumns(transfer, now));
  const deposit = await recordAnew(tx, known, transfer, { now, actor });
  if (isUnmatched(deposit)) await addUnmatchedEvents(tx, deposit, now);
  return deposit;
}

/** Whether a report differs from the recorded deposit, which is not final yet. */
export function isReportedOtherwise(known: Deposit, transfer: ObservedTransfer): boolean {
  const arrived = transfer.finality === 'seen' || transfer.finality === 'final';
  return known.state !== 'final' && arrived && differs(known, transfer);
}

/**
 * Undoes the effect of a deposit, and records it as it is reported now, with the time of its first report. A
 * dismissed one stays dismissed, since the money may have been returned.
 */
async function recordAnew(
  tx: Connection,
  known: Deposit,
  transfer: ObservedTransfer,
  by: { readonly now: Date; readonly actor: string },
): Promise<Deposit> {
  const { blockchainId, address, tokenAmount } = transfer;
  const references = transfer.references ?? known.reference_accounts ?? [];
  // `lockTransfers` has locked it already, unless another transaction recorded the deposit there just before.
  if (known.address !== address) {
    await lockAddresses(tx, [{ blockchainId, address: known.address }]);
  }
  await reportCorrection(tx, known, transfer, by.now);
  if (known.state === 'seen') {
    const { address: former, block_height: blockHeight, block_hash: blockHash } = known;
    const undone = { ...transfer, finality: 'reversed', blockHeight, blockHash } as const;
    await apply(tx, known, { ...undone, address: former }, by);
  }
  const slot = { blockchainId, address, tokenAmount };
  const matched =
    known.dismissed_at === null
      ? await matchPayment(tx, slot, timeOf(known), references)
      : { outcome: known.outcome, payment_id: null };
  const deposit = await updateDeposit(tx, known.id, {
    ...matched,
    address,
    token_amount: tokenAmount,
    state: transfer.finality,
    ...NOT_VALUED,
    ...blockColumns(transfer, by.now),
  });
  return applyDeposit(tx, deposit, by.now, by.actor);
}

/** Whether a transfer that is still only seen is in another block, or in none any more. */
function hasMoved(known: Deposit, { finality, blockHeight, blockHash }: ObservedTransfer): boolean {
  const isSeen = known.state === 'seen' && finality === 'seen';
  return isSeen && (known.block_height !== blockHeight || known.block_hash !== blockHash);
}

async function insertObserved(
  db: Connection,
  transfer: ObservedTransfer,
  now: Date,
): Promise<Deposit> {
  const { occurredAt, earliestAt = occurredAt } = transfer;
  const time = { occurredAt, earliestAt };
  const matched = mayMatch(transfer)
    ? await matchPayment(db, transfer, time, transfer.references)
    : NO_MATCH;
  return insertDeposit(db, newDeposit(transfer, matched, now));
}

/**
 * Whether a report may find a payment. A transfer that was reversed did not arrive. Neither did one that failed:
 * anyone can send a failing transaction, which must not end a stranger's payment. Failed transfers of the simulator
 * come from the payment's own customer.
 */
function mayMatch({ finality, source }: Pick<ObservedTransfer, 'finality' | 'source'>): boolean {
  return finality !== 'reversed' && (finality !== 'failed' || source === 'simulation');
}

/**
 * Whether to match an unmatched deposit again: if it was reversed or had failed and reappears, or
 * if it is a duplicate, since the transfer that it duplicates may have been reversed. All others
 * stay in the inbox for an operator.
 */
function canRematch(known: Deposit, transfer: ObservedTransfer): boolean {
  if (known.payment_id !== null || known.dismissed_at !== null) return false;
  const reappears = known.state === 'reversed' || known.state === 'failed';
  return mayMatch(transfer) && (reappears || known.outcome === 'duplicate');
}
