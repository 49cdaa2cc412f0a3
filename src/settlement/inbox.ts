import { audited, OperationRefused, type Operator } from '../accounts/audited-change.ts';
import type { Connection } from '../database/connection.ts';
import type { Deposit } from '../database/deposit-tables.ts';
import { findDepositContexts } from '../repositories/deposit-context.ts';
import {
  findDepositById,
  lockAddresses,
  lockDeposit,
  updateDeposit,
} from '../repositories/deposits.ts';
import { lockPayment } from '../repositories/payment-moves.ts';
import { applyDeposit } from './apply-deposit.ts';

const SETTLE_ELSEWHERE = 'Settle with the customer, then dismiss the deposit with a note of how.';

/**
 * Assigns an unmatched deposit to a pending payment. The operator is responsible for the amount.
 * @throws OperationRefused for a deposit that is assigned, dismissed or without funds, and for a
 * payment that has ended, has funds already or expects another network or address.
 */
export function assignDeposit(
  operator: Operator,
  depositId: string,
  paymentId: string,
): Promise<Deposit> {
  return audited(operator, 'deposit.assign', async (tx, now) => {
    const deposit = await requireUnmatched(tx, depositId);
    const payment = await lockPayment(tx, paymentId);
    if (payment === undefined) throw new OperationRefused(`There is no payment ${paymentId}.`);
    if (payment.status !== 'pending') {
      throw new OperationRefused(
        `The payment has ended: it is ${payment.status} and stays so. ${SETTLE_ELSEWHERE}`,
      );
    }
    if (payment.session_status !== 'pending') {
      throw new OperationRefused(`The payment has funds already. ${SETTLE_ELSEWHERE}`);
    }
    if (payment.blockchain_id !== deposit.blockchain_id) {
      throw new OperationRefused('The payment is on another network than the deposit.');
    }
    if (payment.address !== deposit.address) {
      throw new OperationRefused('The deposit went to another address than that of the payment.');
    }
    const assigned = await updateDeposit(tx, depositId, {
      outcome: 'assigned',
      payment_id: paymentId,
      updated_at: now,
    });
    const result = await applyDeposit(tx, assigned, now);
    return { result, objectId: depositId, detail: { paymentId } };
  });
}

/**
 * Removes a deposit from the inbox, because it was settled with the customer elsewhere.
 * @param note How it was settled, for the audit log.
 * @throws OperationRefused for a deposit that is assigned, dismissed or without funds.
 */
export function dismissDeposit(
  operator: Operator,
  depositId: string,
  note?: string,
): Promise<Deposit> {
  return audited(operator, 'deposit.dismiss', async (tx, now) => {
    const deposit = await requireUnmatched(tx, depositId);
    const context = (await findDepositContexts(tx, [deposit])).get(depositId);
    const result = await updateDeposit(tx, depositId, { dismissed_at: now, updated_at: now });
    const detail = {
      merchantIds: context?.merchantIds ?? [],
      ...(note === undefined ? {} : { note }),
    };
    return { result, objectId: depositId, detail };
  });
}

/** Locks the address before the deposit, in the order of `observeTransfer`, to avoid deadlocks. */
async function requireUnmatched(db: Connection, id: string): Promise<Deposit> {
  const unlocked = await findDepositById(db, id);
  if (unlocked !== undefined) {
    const { blockchain_id: blockchainId, address } = unlocked;
    await lockAddresses(db, [{ blockchainId, address }]);
  }
  const deposit = await lockDeposit(db, id);
  if (deposit === undefined) throw new OperationRefused(`There is no deposit ${id}.`);
  if (deposit.payment_id !== null) {
    throw new OperationRefused(`The deposit belongs to payment ${deposit.payment_id} already.`);
  }
  if (deposit.dismissed_at !== null) throw new OperationRefused('The deposit is dismissed.');
  if (deposit.state === 'reversed' || deposit.state === 'failed') {
    throw new OperationRefused(`The deposit is ${deposit.state}: there are no funds.`);
  }
  return deposit;
}
