import { movePayment } from '#payments/move-payment.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { Deposit } from '#storage/database/deposit-tables.ts';
import { findUnderpayment, updateDeposit } from '#storage/repositories/deposits/deposits.ts';
import { applyParts } from './apply-parts.ts';
import { moveFor } from './deposit-moves.ts';
import { FORMER, returnToQuote } from './return-to-quote.ts';
import { settleUnderpayment } from './underpayment.ts';

/** Actor of on-chain moves in a payment's history, unless they are simulated. */
export const CHAIN_ACTOR = 'chain';

/**
 * Moves the deposit's payment according to the deposit's state. A reversed deposit is detached from
 * its payment, so that another transfer can pay it. A deposit whose payment has ended goes to the
 * inbox as late: an ended payment never moves. Call it with the address locked.
 * @returns The updated deposit.
 */
export async function applyDeposit(
  db: Connection,
  deposit: Deposit,
  now: Date,
  actor = CHAIN_ACTOR,
): Promise<Deposit> {
  const { payment_id: paymentId, outcome, state } = deposit;
  if (paymentId === null) return deposit;
  const by = { now, actor };
  const isPart = outcome === 'under' || outcome === 'rest';
  const isLate =
    (isPart ? await applyParts(db, paymentId, deposit, by) : undefined) ??
    (outcome === 'under'
      ? await applyUnderpayment(db, paymentId, deposit, now)
      : await applyPayment(db, paymentId, deposit, by));
  if (state === 'reversed') return detach(db, deposit, 'unknown', now);
  return isLate ? detach(db, deposit, 'late', now) : deposit;
}

/** Moves the payment of a deposit that suffices. Returns true if the payment ended before the funds came. */
async function applyPayment(
  db: Connection,
  paymentId: string,
  deposit: Deposit,
  by: { readonly now: Date; readonly actor: string },
): Promise<boolean> {
  const { outcome, state } = deposit;
  const before =
    outcome === 'rest' || state === 'reversed' ? await findUnderpayment(db, paymentId) : undefined;
  const isFormer = state !== 'reversed' && (await returnToQuote(db, paymentId, deposit, by.now));
  const { reason, ...move } = moveFor(deposit, before, by.now);
  const note = isFormer ? `${reason}${FORMER}` : reason;
  const moved = await movePayment(db, { paymentId, ...by, ...move, reason: note });
  if (moved === undefined) return state !== 'failed';
  // The error of the reversed transfer must not hide that the payment is underpaid.
  if (state === 'reversed' && before !== undefined) {
    await settleUnderpayment(db, paymentId, by.now);
  }
  return false;
}

/**
 * The payment stays open, so that the customer can send the rest or the whole amount.
 * @returns Whether it ended before the deposit became final.
 */
async function applyUnderpayment(
  db: Connection,
  paymentId: string,
  { state }: Deposit,
  now: Date,
): Promise<boolean> {
  const payment = await settleUnderpayment(db, paymentId, now);
  return state === 'final' && payment?.status !== 'pending';
}

function detach(
  db: Connection,
  deposit: Deposit,
  outcome: 'unknown' | 'late',
  now: Date,
): Promise<Deposit> {
  return updateDeposit(db, deposit.id, { outcome, payment_id: null, updated_at: now });
}
