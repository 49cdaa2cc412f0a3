import { movePayment } from '#payments/move-payment.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { Deposit, DepositState } from '#storage/database/deposit-tables.ts';
import { findParts, reopenParts } from '#storage/repositories/deposits/parts.ts';
import { lockPayment } from '#storage/repositories/payments/moves.ts';
import { moveFor } from './deposit-moves.ts';
import { FORMER, returnToQuote } from './return-to-quote.ts';
import { settleUnderpayment } from './underpayment.ts';

/**
 * Moves a payment by the sum of what has arrived at its own address: it is seen once the sum of all transfers suffices,
 * and paid once that of the final ones does. A payment that has another quote by now moves only by the transfer that
 * completes the sum while the price there holds. Whatever changes one of the transfers calls it afterwards, so that
 * the payment's lock suffices.
 * @param deposit One of the transfers, as it has become.
 * @returns Whether the payment ended, or was paid elsewhere, before the deposit became final; undefined at any other
 * address.
 */
export async function applyParts(
  db: Connection,
  paymentId: string,
  deposit: Deposit,
  by: { readonly now: Date; readonly actor: string },
): Promise<boolean | undefined> {
  const place = { blockchainId: deposit.blockchain_id, address: deposit.address };
  const payment = await lockPayment(db, paymentId);
  const parts = await findParts(db, paymentId, place, true);
  if (parts === undefined) return undefined;
  const isHere = payment?.blockchain_id === place.blockchainId && payment.address === place.address;
  if (payment?.status !== 'pending') {
    const isPaidHere = isHere && payment.status === 'successful';
    return deposit.state === 'final' && !isPaidHere;
  }
  const returns = !isHere && deposit.outcome === 'rest' && deposit.state !== 'reversed';
  const isBack = returns && (await returnToQuote(db, paymentId, deposit, by.now));
  if (!isHere && !isBack) {
    await settleUnderpayment(db, paymentId, by.now);
    return false;
  }
  const { arrived, final, settlesFrom, completing } = parts;
  const moveTo = async (state: DepositState, note = '') => {
    const hash = state === 'reversed' ? deposit.transaction_hash : completing;
    const shown = { ...deposit, state, transaction_hash: hash ?? deposit.transaction_hash };
    const { reason, ...move } = moveFor(shown, undefined, by.now);
    const before = isBack ? FORMER : '';
    await movePayment(db, { paymentId, ...by, ...move, reason: `${reason}${note}${before}` });
  };
  // What has sufficed once is not undone because the merchant tolerates less by now.
  const hasArrived = deposit.state === 'seen' || deposit.state === 'final';
  const isKept = payment.session_status === 'completed' && hasArrived && arrived < settlesFrom;
  const enough = isKept ? arrived : settlesFrom;
  if (final >= enough) await moveTo('final', ENOUGH);
  else if (arrived >= enough) await moveTo('seen', ENOUGH);
  else {
    await reopenParts(db, paymentId, place);
    if (payment.session_status === 'completed') await moveTo('reversed');
    if (payment.session_status === 'pending' || arrived > 0n) {
      await settleUnderpayment(db, paymentId, by.now);
    }
  }
  return false;
}

const ENOUGH = ", the last of several to the payment's own address";
