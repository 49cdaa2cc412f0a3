import { v7 as uuidv7 } from 'uuid';
import type { Connection, Database } from '../database/connection.ts';
import type { Deposit, DepositState } from '../database/tables.ts';
import {
  findDeposit,
  findUnmatchedTwin,
  insertDeposit,
  lockAddress,
  updateDeposit,
} from '../repositories/deposits.ts';
import { lockPayment } from '../repositories/payment-moves.ts';
import { listCandidates, wasReserved } from '../repositories/reservations.ts';
import { applyDeposit } from './apply-deposit.ts';
import { matchTransfer } from './match-transfer.ts';
import type { Finality, ObservedTransfer } from './observed-transfer.ts';

type DepositMatch = Pick<Deposit, 'outcome' | 'payment_id'>;

const NO_MATCH: DepositMatch = { outcome: 'unknown', payment_id: null };

/** What may still become of a deposit: what is final or has failed is told again for nothing. */
const NEXT_STATES: Readonly<Record<DepositState, readonly DepositState[]>> = {
  seen: ['final', 'reversed', 'failed'],
  reversed: ['seen', 'final', 'failed'],
  final: [],
  failed: [],
};

/**
 * Takes in a transfer: records it once, however often and in whatever order it is reported, decides
 * which payment it is for, and moves that payment as the transfer becomes surer.
 * @returns The deposit as it stands now.
 */
export function observeTransfer(
  db: Database,
  transfer: ObservedTransfer,
  now: Date,
): Promise<Deposit> {
  return db.transaction().execute(async tx => {
    await lockAddress(tx, transfer.blockchainId, transfer.address);
    const known = await findDeposit(tx, transfer);
    if (known === undefined) return applyDeposit(tx, await record(tx, transfer, now), now);
    if (!NEXT_STATES[known.state].includes(transfer.finality)) return known;
    const deposit = await updateDeposit(tx, known.id, {
      ...(mayMatchAgain(known, transfer.finality)
        ? await match(tx, transfer, known.observed_at)
        : {}),
      state: transfer.finality,
      block_height: transfer.blockHeight,
      updated_at: now,
    });
    const applied = await applyDeposit(tx, deposit, now);
    if (transfer.finality === 'reversed') await giveTwinItsChance(tx, deposit, now);
    return applied;
  });
}

async function record(db: Connection, transfer: ObservedTransfer, now: Date): Promise<Deposit> {
  // What is told as undone before it was ever seen has never arrived.
  const undone = transfer.finality === 'reversed';
  const found = undone ? NO_MATCH : await match(db, transfer, now);
  return insertDeposit(db, {
    id: uuidv7(),
    blockchain_id: transfer.blockchainId,
    transaction_hash: transfer.transactionHash,
    position: transfer.position,
    address: transfer.address,
    token_amount: transfer.tokenAmount,
    block_height: transfer.blockHeight,
    state: transfer.finality,
    ...found,
    dismissed_at: null,
    observed_at: now,
    updated_at: now,
  });
}

/**
 * Whether a deposit without a payment is matched once more: one that was undone and comes back, and
 * a duplicate whose twin may have been undone. Anything else stays with a person.
 */
function mayMatchAgain(known: Deposit, finality: Finality): boolean {
  if (known.payment_id !== null || known.dismissed_at !== null) return false;
  return finality !== 'reversed' && (known.state === 'reversed' || known.outcome === 'duplicate');
}

/**
 * The match, with the payment's row held: it may have ended since its reservation was read.
 * Payments that reserved the amount only after the transfer was first seen cannot be meant.
 */
async function match(
  db: Connection,
  { blockchainId, address, tokenAmount }: ObservedTransfer,
  firstSeen: Date,
): Promise<DepositMatch> {
  const candidates = await listCandidates(db, blockchainId, address, firstSeen);
  const reservedBefore = await wasReserved(db, { blockchainId, address, tokenAmount });
  const { outcome, paymentId } = matchTransfer(tokenAmount, candidates, reservedBefore);
  if (paymentId === null) return { outcome, payment_id: null };
  const payment = await lockPayment(db, paymentId);
  return payment?.status === 'pending'
    ? { outcome, payment_id: paymentId }
    : { outcome: 'late', payment_id: null };
}

/**
 * A wallet replaces a transaction that is slow: the new one arrives as a duplicate while the old one
 * still holds the payment. When the old one is undone, the new one gets the payment.
 */
async function giveTwinItsChance(db: Connection, reversed: Deposit, now: Date): Promise<void> {
  const { payment_id: paymentId } = reversed;
  if (paymentId === null) return;
  const twin = await findUnmatchedTwin(db, reversed);
  if (twin === undefined) return;
  const taken = await updateDeposit(db, twin.id, {
    outcome: 'exact',
    payment_id: paymentId,
    updated_at: now,
  });
  await applyDeposit(db, taken, now);
}
