import { v7 as uuidv7 } from 'uuid';
import type { Connection, Database } from '../database/connection.ts';
import type { Deposit, DepositState } from '../database/tables.ts';
import { transact } from '../database/transaction.ts';
import {
  findDeposit,
  findDuplicate,
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
import { applyDeposit, CHAIN_ACTOR } from './apply-deposit.ts';
import { LATE_FOR_MS, matchTransfer } from './match-transfer.ts';

/** State of a transfer: in a block or the mempool, irreversible, undone, or failed on chain. */
export type Finality = 'seen' | 'final' | 'reversed' | 'failed';

/** A transfer to a deposit address, as reported by a chain watcher or the simulator. */
export interface ObservedTransfer {
  readonly blockchainId: string;
  readonly transactionHash: string;
  /** Index of the log, output or instruction within the transaction. */
  readonly position: number;
  /** The receiving address in its canonical spelling. */
  readonly address: string;
  /** Integer of the asset's smallest unit. */
  readonly tokenAmount: bigint;
  /** null while it is not in a block. */
  readonly blockHeight: number | null;
  readonly finality: Finality;
}

type DepositMatch = Pick<Deposit, 'outcome' | 'payment_id'>;

/** Open reservations to read: two are enough to make a match ambiguous. */
const OPEN_MAXIMUM = 2;

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
  return transact(db, async tx => {
    await lockAddress(tx, transfer.blockchainId, transfer.address);
    const known = await findDeposit(tx, transfer);
    if (known === undefined) return applyDeposit(tx, await record(tx, transfer, now), now, actor);
    if (!NEXT_STATES[known.state].includes(transfer.finality)) return known;
    const deposit = await updateDeposit(tx, known.id, {
      ...(canRematch(known, transfer.finality) ? await match(tx, transfer, known.observed_at) : {}),
      state: transfer.finality,
      block_height: transfer.blockHeight,
      updated_at: now,
    });
    const applied = await applyDeposit(tx, deposit, now, actor);
    if (transfer.finality === 'reversed') await rematchDuplicate(tx, deposit, now, actor);
    return applied;
  });
}

async function record(db: Connection, transfer: ObservedTransfer, now: Date): Promise<Deposit> {
  // A transfer first reported as reversed never arrived.
  const reversed = transfer.finality === 'reversed';
  const matched = reversed ? NO_MATCH : await match(db, transfer, now);
  return insertDeposit(db, {
    id: uuidv7(),
    blockchain_id: transfer.blockchainId,
    transaction_hash: transfer.transactionHash,
    position: transfer.position,
    address: transfer.address,
    token_amount: transfer.tokenAmount,
    block_height: transfer.blockHeight,
    state: transfer.finality,
    ...matched,
    dismissed_at: null,
    observed_at: now,
    updated_at: now,
  });
}

/**
 * Whether to match an unmatched deposit again: if it was reversed or had failed and reappears, or
 * if it is a duplicate, since the transfer that it duplicates may have been reversed. All others
 * stay in the inbox for an operator.
 */
function canRematch(known: Deposit, finality: Finality): boolean {
  if (known.payment_id !== null || known.dismissed_at !== null) return false;
  const reappears = known.state === 'reversed' || known.state === 'failed';
  return finality !== 'reversed' && (reappears || known.outcome === 'duplicate');
}

/**
 * Matches a transfer to a payment and locks the payment's row. The payment is checked again under
 * the lock: after its reservation was read it may have ended or moved to another network. Only
 * reservations made before the transfer was first seen count.
 */
async function match(
  db: Connection,
  slot: Pick<ObservedTransfer, 'blockchainId' | 'address' | 'tokenAmount'>,
  firstSeen: Date,
): Promise<DepositMatch> {
  const { blockchainId, address, tokenAmount } = slot;
  const { outcome, paymentId } = matchTransfer(tokenAmount, {
    exact: await findReservation(db, slot, firstSeen),
    open: await listOpenReservations(db, blockchainId, address, firstSeen, OPEN_MAXIMUM),
    reservedBefore: await wasReserved(db, slot, new Date(firstSeen.getTime() - LATE_FOR_MS)),
  });
  if (paymentId === null) return { outcome, payment_id: null };
  const payment = await lockPayment(db, paymentId);
  const matches =
    payment?.status === 'pending' &&
    payment.session_status === 'pending' &&
    payment.blockchain_id === blockchainId &&
    payment.address === address;
  return matches ? { outcome, payment_id: paymentId } : { outcome: 'late', payment_id: null };
}

/**
 * Matches the duplicate of a reversed deposit. A wallet may replace a slow transaction: the
 * replacement arrives as a duplicate while the original still holds the payment.
 */
async function rematchDuplicate(
  db: Connection,
  reversed: Deposit,
  now: Date,
  actor: string,
): Promise<void> {
  const duplicate = await findDuplicate(db, reversed);
  if (duplicate === undefined) return;
  const slot = {
    blockchainId: duplicate.blockchain_id,
    address: duplicate.address,
    tokenAmount: BigInt(duplicate.token_amount),
  };
  const matched = await match(db, slot, duplicate.observed_at);
  if (matched.payment_id === null) return;
  const deposit = await updateDeposit(db, duplicate.id, { ...matched, updated_at: now });
  await applyDeposit(db, deposit, now, actor);
}
