import type { Connection } from '../database/connection.ts';
import type { Deposit, DepositState } from '../database/tables.ts';
import { type MoveRequest, movePayment } from '../payments/move-payment.ts';
import { hasUnderpayment, updateDeposit } from '../repositories/deposits.ts';
import { type PaymentColumns, updateOpenPayment } from '../repositories/payment-moves.ts';

/** Actor of on-chain moves in a payment's history, unless they are simulated. */
export const CHAIN_ACTOR = 'chain';

const NO_ERROR = { last_error_code: null, last_error_message: null, last_error_at: null };

/**
 * Moves the deposit's payment according to the deposit's state. A reversed deposit is detached from
 * its payment, so that another transfer can pay it. A deposit whose payment has ended goes to the
 * inbox as late: an ended payment never moves.
 * @returns The updated deposit.
 */
export async function applyDeposit(
  db: Connection,
  deposit: Deposit,
  now: Date,
  actor = CHAIN_ACTOR,
): Promise<Deposit> {
  const { payment_id: paymentId } = deposit;
  if (paymentId === null) return deposit;
  if (deposit.outcome === 'under') {
    await recordUnderpayment(db, paymentId, deposit, now);
    return deposit.state === 'reversed' ? detach(db, deposit, 'unknown', now) : deposit;
  }
  const moved = await movePayment(db, { paymentId, actor, now, ...moveFor(deposit, now) });
  if (deposit.state === 'reversed') return detach(db, deposit, 'unknown', now);
  const late = moved === undefined && deposit.state !== 'failed';
  return late ? detach(db, deposit, 'late', now) : deposit;
}

function detach(
  db: Connection,
  deposit: Deposit,
  outcome: 'unknown' | 'late',
  now: Date,
): Promise<Deposit> {
  return updateDeposit(db, deposit.id, { outcome, payment_id: null, updated_at: now });
}

function moveFor(
  { state, transaction_hash: hash }: Deposit,
  now: Date,
): Pick<MoveRequest, 'move' | 'reason' | 'columns'> {
  const moves: Record<DepositState, Pick<MoveRequest, 'move' | 'reason' | 'columns'>> = {
    seen: {
      move: 'detect',
      reason: `transfer ${hash} seen`,
      columns: { transaction_hash: hash, ...NO_ERROR },
    },
    final: {
      move: 'confirm',
      reason: `transfer ${hash} final`,
      columns: { transaction_hash: hash, ...NO_ERROR },
    },
    reversed: {
      move: 'revert',
      reason: `transfer ${hash} reversed by a chain reorganisation`,
      columns: {
        transaction_hash: null,
        ...problem('transfer_reversed', `The transfer ${hash} was undone by the chain.`, now),
      },
    },
    failed: {
      move: 'fail',
      reason: `transaction ${hash} failed`,
      columns: {
        transaction_hash: hash,
        ...problem('transaction_reverted', `The transaction ${hash} failed on chain.`, now),
      },
    },
  };
  return moves[state];
}

/** The payment stays open, so that the customer can still send the exact amount. */
async function recordUnderpayment(
  db: Connection,
  paymentId: string,
  { state, transaction_hash: hash }: Deposit,
  now: Date,
): Promise<void> {
  const arrived = state === 'seen' || state === 'final';
  // The error remains valid while another underpayment exists.
  if (!arrived && (await hasUnderpayment(db, paymentId))) return;
  const columns = arrived
    ? problem('amount_underpaid', `The transfer ${hash} is less than the amount asked for.`, now)
    : NO_ERROR;
  await updateOpenPayment(db, paymentId, columns);
}

function problem(code: string, message: string, now: Date): PaymentColumns {
  return { last_error_code: code, last_error_message: message, last_error_at: now };
}
