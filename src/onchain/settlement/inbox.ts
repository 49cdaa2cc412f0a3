import { audited, OperationRefused, type Operator } from '#accounts/audit/audited-change.ts';
import { requireEstablishedAdmin } from '#accounts/change-rights.ts';
import type { Connection, Database } from '#storage/database/connection.ts';
import type { Deposit } from '#storage/database/deposit-tables.ts';
import { transact } from '#storage/database/transaction.ts';
import {
  deleteAskedAssignment,
  saveAskedAssignment,
} from '#storage/repositories/deposits/asked-assignments.ts';
import { findDepositContexts } from '#storage/repositories/deposits/context.ts';
import {
  findDepositById,
  findDepositsById,
  lockAddresses,
  lockDeposit,
  updateDeposit,
} from '#storage/repositories/deposits/deposits.ts';
import type { MeantPayment } from '#storage/repositories/deposits/deviations.ts';
import { applyDeposit } from './apply-deposit.ts';
import {
  type Assignment,
  amountsOf,
  type Consent,
  findOtherOrder,
  requireAssignable,
  requireConfirmed,
  requireOrder,
} from './assignment.ts';

/** What an assignment would do. */
export interface WeighedAssignment extends Assignment {
  /** Another payment that the deposit was meant for. */
  readonly otherOrder: MeantPayment | undefined;
}

/** How money was returned. */
export interface Return {
  /** To whom. */
  readonly to: string;
  /** Hash of the transaction. */
  readonly hash: string;
  readonly note?: string | undefined;
}

/** What was done with the money of a deposit that no payment took. */
export type RemedyOf =
  | ({ readonly remedy: 'returned' } & Return)
  | { readonly remedy: 'kept'; readonly note?: string | undefined }
  | { readonly remedy: 'other'; readonly note: string };

/** What the audit log says of an amount that took a consent. */
const AUDITED = { tooLittle: { isTooLittle: true }, tooMuch: { isTooMuch: true } } as const;

/** Maximum number of deposits that are dismissed at once. */
export const DISMISSALS_MAXIMUM = 100;

/**
 * Assigns an unmatched deposit to a pending payment. A deposit of too little or too much (`Assignment.difference`)
 * settles it only if two people of the merchant agree, or an operator does.
 * @param delayMs For people of the panel: how long changes of where money goes wait, in milliseconds. They must have
 * been admins for that long to let such a deposit settle a payment.
 * @throws ConsentNeeded, which names the consent that is missing; OperationRefused for a deposit that is assigned,
 * dismissed or without funds, and for a payment that has ended, has funds already or expects another network or
 * address.
 */
export function assignDeposit(
  operator: Operator,
  depositId: string,
  paymentId: string,
  consent: Consent = {},
  delayMs = 0,
): Promise<Deposit> {
  return audited(operator, 'deposit.assign', async (tx, now) => {
    const deposit = await requireUnmatched(tx, depositId);
    const assignment = await requireAssignable(tx, deposit, paymentId);
    await requireOrder(tx, assignment, consent);
    const { difference } = assignment;
    const within = { ...operator, db: tx };
    const askedBy = await requireConfirmed(within, assignment, consent, delayMs);
    await deleteAskedAssignment(tx, depositId);
    const assigned = await updateDeposit(tx, depositId, {
      outcome: 'assigned',
      payment_id: paymentId,
      updated_at: now,
    });
    const result = await applyDeposit(tx, assigned, now);
    const detail = {
      paymentId,
      ...amountsOf(assignment),
      usdPrice: deposit.usd_price,
      ...(difference === null ? {} : { ...AUDITED[difference], askedBy }),
    };
    return { result, objectId: depositId, detail };
  });
}

/**
 * What assigning a deposit to a payment would do now, for a person to decide on. Changes nothing.
 * @param consent To the amounts: that it was meant for another payment is told, and needs none.
 * @throws ConsentNeeded and OperationRefused as `assignDeposit` does otherwise.
 */
export function weighAssignment(
  operator: Operator & { readonly db: Database },
  depositId: string,
  paymentId: string,
  consent: Pick<Consent, 'amounts'>,
  delayMs: number,
): Promise<WeighedAssignment> {
  return transact(operator.db, async tx => {
    const deposit = await requireUnmatched(tx, depositId);
    const assignment = await requireAssignable(tx, deposit, paymentId);
    await requireConfirmed({ ...operator, db: tx }, assignment, consent, delayMs);
    return { ...assignment, otherOrder: await findOtherOrder(tx, assignment) };
  });
}

/**
 * Asks a second person of the merchant to confirm that a deposit of too little or too much settles a payment.
 * @param operator Who asks, in the panel.
 * @param delayMs As for `assignDeposit`: the person who asks needs the same standing as the one who confirms.
 * @throws OperationRefused as `assignDeposit` does, and for a deposit that suffices.
 */
export function askToAssign(
  operator: Operator & { readonly personId: string },
  depositId: string,
  paymentId: string,
  delayMs: number,
): Promise<void> {
  return audited(operator, 'deposit.ask-to-assign', async (tx, now) => {
    const deposit = await requireUnmatched(tx, depositId);
    const assignment = await requireAssignable(tx, deposit, paymentId);
    if (assignment.difference === null) throw new OperationRefused('deposit-suffices');
    await requireEstablishedAdmin({ ...operator, db: tx }, assignment.payment.merchant_id, delayMs);
    await saveAskedAssignment(tx, {
      deposit_id: depositId,
      payment_id: paymentId,
      person_id: operator.personId,
      asked_at: now,
    });
    const detail = { paymentId, ...amountsOf(assignment) };
    return { result: undefined, objectId: depositId, detail };
  });
}

/**
 * Removes a deposit from the inbox, and records what was done with the money.
 * @throws OperationRefused for a deposit that is assigned, dismissed or without funds.
 */
export function dismissDeposit(
  operator: Operator,
  depositId: string,
  remedy: RemedyOf,
): Promise<Deposit> {
  return audited(operator, 'deposit.dismiss', async (tx, now) => {
    const deposit = await requireUnmatched(tx, depositId);
    const context = (await findDepositContexts(tx, [deposit])).get(depositId);
    const isReturned = remedy.remedy === 'returned';
    await deleteAskedAssignment(tx, depositId);
    const result = await updateDeposit(tx, depositId, {
      dismissed_at: now,
      remedy: remedy.remedy,
      remedy_to: isReturned ? remedy.to : null,
      remedy_hash: isReturned ? remedy.hash : null,
      remedy_note: remedy.note ?? null,
      updated_at: now,
    });
    const detail = { merchantIds: context?.merchantIds ?? [], ...remedy };
    return { result, objectId: depositId, detail };
  });
}

/**
 * Dismisses several deposits, all or none.
 * @throws OperationRefused for more than `DISMISSALS_MAXIMUM`, and as `dismissDeposit` does.
 */
export async function dismissDeposits(
  operator: Operator,
  depositIds: readonly string[],
  remedy: RemedyOf,
): Promise<void> {
  if (depositIds.length > DISMISSALS_MAXIMUM) {
    throw new OperationRefused('too-many-dismissals', { maximum: DISMISSALS_MAXIMUM });
  }
  const run = async (tx: Connection) => {
    const deposits = (await findDepositsById(tx, depositIds)).toSorted(inLockOrder);
    for (const { id } of deposits) await dismissDeposit({ ...operator, db: tx }, id, remedy);
  };
  await (operator.db.isTransaction ? run(operator.db) : transact(operator.db, run));
}

/** The order in which watchers lock addresses. */
function inLockOrder(a: Deposit, b: Deposit): number {
  return compare(a.blockchain_id, b.blockchain_id) || compare(a.address, b.address);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

async function requireUnmatched(db: Connection, id: string): Promise<Deposit> {
  const deposit = await requireDeposit(db, id);
  if (deposit.payment_id !== null) {
    throw new OperationRefused('deposit-assigned', { paymentId: deposit.payment_id });
  }
  if (deposit.dismissed_at !== null) throw new OperationRefused('deposit-dismissed');
  if (deposit.state === 'reversed' || deposit.state === 'failed') {
    throw new OperationRefused('deposit-without-funds', { state: deposit.state });
  }
  return deposit;
}

/**
 * Locks the address before the deposit, in the order of `observeTransfer`, to avoid deadlocks.
 * @throws OperationRefused for an unknown deposit.
 */
export async function requireDeposit(db: Connection, id: string): Promise<Deposit> {
  const unlocked = await findDepositById(db, id);
  if (unlocked !== undefined) {
    const { blockchain_id: blockchainId, address } = unlocked;
    await lockAddresses(db, [{ blockchainId, address }]);
  }
  const deposit = await lockDeposit(db, id);
  if (deposit === undefined) throw new OperationRefused('deposit-unknown', { depositId: id });
  return deposit;
}
