import { v7 as uuidv7 } from 'uuid';
import type { Connection, Database } from '../database/connection.ts';
import type { Deposit, DepositState } from '../database/tables.ts';
import { transact } from '../database/transaction.ts';
import {
  findDeposit,
  findUnmatchedTwin,
  insertDeposit,
  lockAddress,
  updateDeposit,
} from '../repositories/deposits.ts';
import { lockPayment } from '../repositories/payment-moves.ts';
import {
  findReservation,
  listOpenReservations,
  wasReserved,
} from '../repositories/reservations.ts';
import { applyDeposit } from './apply-deposit.ts';
import { matchTransfer } from './match-transfer.ts';
import type { Finality, ObservedTransfer } from './observed-transfer.ts';

type DepositMatch = Pick<Deposit, 'outcome' | 'payment_id'>;

/** Reservations that are enough to know that there are several. */
const SEVERAL = 2;

const NO_MATCH: DepositMatch = { outcome: 'unknown', payment_id: null };

/**
 * What may still become of a deposit: only what is final is told again for nothing. A transaction
 * that fails in one block may still succeed in the block that replaces it.
 */
const NEXT_STATES: Readonly<Record<DepositState, readonly DepositState[]>> = {
  seen: ['final', 'reversed', 'failed'],
  reversed: ['seen', 'final', 'failed'],
  final: [],
  failed: ['seen', 'final'],
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
  return transact(db, async tx => {
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
 * Whether a deposit without a payment is matched once more: one that was undone or had failed and
 * comes back, and a duplicate whose twin may have been undone. Anything else stays with a person.
 */
function mayMatchAgain(known: Deposit, finality: Finality): boolean {
  if (known.payment_id !== null || known.dismissed_at !== null) return false;
  const comesBack = known.state === 'reversed' || known.state === 'failed';
  return finality !== 'reversed' && (comesBack || known.outcome === 'duplicate');
}

/**
 * The match, with the payment's row held: it may have ended, or its customer may have chosen another
 * network, since its reservation was read. Payments that reserved the amount only after the transfer
 * was first seen cannot be meant.
 */
async function match(
  db: Connection,
  slot: Pick<ObservedTransfer, 'blockchainId' | 'address' | 'tokenAmount'>,
  firstSeen: Date,
): Promise<DepositMatch> {
  const { blockchainId, address, tokenAmount } = slot;
  const { outcome, paymentId } = matchTransfer(tokenAmount, {
    exact: await findReservation(db, slot, firstSeen),
    open: await listOpenReservations(db, blockchainId, address, firstSeen, SEVERAL),
    reservedBefore: await wasReserved(db, slot),
  });
  if (paymentId === null) return { outcome, payment_id: null };
  const payment = await lockPayment(db, paymentId);
  const stillMeant =
    payment?.status === 'pending' &&
    payment.session_status === 'pending' &&
    payment.blockchain_id === blockchainId &&
    payment.address === address;
  return stillMeant ? { outcome, payment_id: paymentId } : { outcome: 'late', payment_id: null };
}

/**
 * A wallet replaces a transaction that is slow: the new one arrives as a duplicate while the old one
 * still holds the payment. When the old one is undone, the new one is matched again.
 */
async function giveTwinItsChance(db: Connection, reversed: Deposit, now: Date): Promise<void> {
  const twin = await findUnmatchedTwin(db, reversed);
  if (twin === undefined) return;
  const slot = {
    blockchainId: twin.blockchain_id,
    address: twin.address,
    tokenAmount: BigInt(twin.token_amount),
  };
  const found = await match(db, slot, twin.observed_at);
  if (found.payment_id === null) return;
  await applyDeposit(db, await updateDeposit(db, twin.id, { ...found, updated_at: now }), now);
}
