import type { Connection } from '../database/connection.ts';
import type { Deposit } from '../database/tables.ts';
import { lockPayment } from '../repositories/payment-moves.ts';
import {
  listWaiting,
  lockHolder,
  type PaymentInWait,
  type Slot,
} from '../repositories/reservations.ts';
import { LATE_FOR_MS, matchTransfer } from './match-transfer.ts';

/** When a transfer happened at the latest and at the earliest. */
export interface TimeOfTransfer {
  readonly occurredAt: Date;
  readonly earliestAt: Date;
}

/** Which payment a deposit belongs to, and why. */
export type DepositMatch = Pick<Deposit, 'outcome' | 'payment_id'>;

/** Waiting payments to read: two are enough to make a match ambiguous. */
const WAITING_MAXIMUM = 2;

/**
 * How long after a payment's end a transfer is still in time, in milliseconds: watchers ask at most 60 s
 * apart, and one that comes later finds the payment open only because its watcher was behind.
 */
export const OVERDUE_BY_MS = 60_000;

/**
 * Matches a transfer to the payment that waited for it when it happened, and locks the payment's row. The
 * payment is checked again under the lock: after its reservation was read it may have ended or moved to
 * another network.
 */
export async function matchPayment(
  db: Connection,
  slot: Slot,
  { occurredAt: at, earliestAt }: TimeOfTransfer,
): Promise<DepositMatch> {
  const holder = await lockHolder(db, slot, at);
  const exact = holder?.releasedAt === null ? holder : undefined;
  const endedBy = new Date(earliestAt.getTime() - OVERDUE_BY_MS);
  const { outcome, paymentId } = matchTransfer(slot.tokenAmount, {
    exact,
    // Whoever has reserved the amount has it, whoever else waits.
    open: exact === undefined ? await listWaiting(db, slot, { at, endedBy }, WAITING_MAXIMUM) : [],
    reservedBefore:
      holder?.releasedAt != null && holder.releasedAt.getTime() > at.getTime() - LATE_FOR_MS,
  });
  if (paymentId === null) return { outcome, payment_id: null };
  const payment =
    paymentId === holder?.paymentId ? holder.payment : await lockPayment(db, paymentId);
  return payment !== undefined && isWaiting(payment, slot, earliestAt)
    ? { outcome, payment_id: paymentId }
    : { outcome: 'late', payment_id: null };
}

function isWaiting(
  payment: PaymentInWait,
  { blockchainId, address }: Pick<Slot, 'blockchainId' | 'address'>,
  earliestAt: Date,
): boolean {
  const end = payment.quoted_until ?? payment.expires_at;
  return (
    payment.status === 'pending' &&
    payment.session_status === 'pending' &&
    payment.blockchain_id === blockchainId &&
    payment.address === address &&
    earliestAt.getTime() <= end.getTime() + OVERDUE_BY_MS
  );
}
