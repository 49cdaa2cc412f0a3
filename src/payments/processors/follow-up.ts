import type { Database } from '#storage/database/connection.ts';
import { transact } from '#storage/database/transaction.ts';
import { hastenInquiries } from '#storage/repositories/accounts/inactive-merchants.ts';
import { claimInquiries, type Inquiry } from '#storage/repositories/payments/processor-sessions.ts';
import { cancelForDeactivation } from '../cancel-deactivated.ts';
import { movePayment } from '../move-payment.ts';
import {
  type Processor,
  ProcessorRefused,
  ProcessorUnavailable,
  SessionUnknown,
} from '../processor.ts';
import { FIRST_INQUIRY_MS } from '../regulated-flow.ts';
import { processorNamed } from './open-processor.ts';
import { type Log, logSettlement } from './receive-notification.ts';
import { settleRegulated } from './settle-regulated.ts';

export interface FollowUp {
  readonly db: Database;
  /** null if US accounts of live merchants are not served. */
  readonly processor: Processor | null;
  readonly sandbox: Processor;
  readonly logger: Log;
}

/**
 * How long past its expiry a payment that no processor knows stays pending, in milliseconds: enough
 * time to fix a configuration that names the wrong processor or account.
 */
const UNCONFIRMED_GRACE_MS = 60 * 60_000;

/**
 * Pauses between inquiries, in milliseconds. Before its expiry a payment is asked about whenever its
 * age has doubled; afterwards whenever the time since has doubled. The longest pause is how late an end may
 * be noticed when its notification was lost, or after an outage of the processor.
 */
export const PAUSES = {
  first: FIRST_INQUIRY_MS,
  shortest: 5_000,
  longest: 15 * 60_000,
  cancelling: 60_000,
};

/**
 * Asks the processor for the state of at most `limit` payments whose inquiry is due: notifications may be lost.
 * Settles those that are paid. Of the unpaid ones, it expires overdue ones and cancels those of deactivated
 * merchants; both states are final and must be true.
 *
 * Each payment is claimed by setting the time of its next inquiry, so that workers do not ask twice. Holds no lock or
 * connection while it waits for the processor; a notification that is applied first wins.
 *
 * @returns Whether there may be more to ask about now: false after the last batch, and if the processor responded for
 * none of the payments.
 */
export async function followUp(dependencies: FollowUp, now: Date, limit: number): Promise<boolean> {
  const inquiries = await claimInquiries(dependencies.db, PAUSES, now, limit);
  const responded = await Promise.all(
    inquiries.map(inquiry => inquire(dependencies, inquiry, now)),
  );
  return inquiries.length === limit && responded.includes(true);
}

/**
 * Makes at most `limit` inquiries about open payments of deactivated merchants due now, so that they are cancelled
 * soon.
 */
export function hastenCancelling({ db }: FollowUp, now: Date, limit: number): Promise<void> {
  const latest = new Date(now.getTime() + PAUSES.cancelling);
  return hastenInquiries(db, { now, latest }, limit);
}

/** @returns False only if the processor did not respond. */
async function inquire(
  { db, logger, ...processors }: FollowUp,
  payment: Inquiry,
  now: Date,
): Promise<boolean> {
  const { id, external_id: externalId, expires_at: expiresAt } = payment;
  const context = { paymentId: id, processor: payment.processor, externalId };
  const isOpen = payment.session_status === 'pending';
  const isOverdue = isOpen && expiresAt <= now;
  const isToCancel = isOpen && !isOverdue && payment.merchant_status === 'inactive';
  const isGraceOver = isOverdue && expiresAt.getTime() + UNCONFIRMED_GRACE_MS <= now.getTime();
  const expireUnconfirmed = async () => {
    logger.warn(context, 'payment expired without confirmation from a processor');
    await expire(db, id, 'expired without confirmation from a processor', now);
    return true;
  };

  const processor = processorNamed(processors, payment.processor);
  if (processor === null || externalId === null) {
    return isGraceOver ? expireUnconfirmed() : true;
  }
  try {
    const notification = await processor.readSession(externalId);
    if (notification !== null && notification.kind !== 'expired') {
      const settlement = await settleRegulated(db, processor.name, notification, now);
      logSettlement(logger, processor.name, notification, settlement);
      return true;
    }
    if (notification === null) {
      if (!isOverdue && !isToCancel) return true;
      // Fails if the customer pays at this moment; the next inquiry then finds the session paid.
      await processor.endSession?.(externalId);
    }
  } catch (error) {
    if (error instanceof SessionUnknown && isGraceOver) return expireUnconfirmed();
    if (!isProcessorFailure(error)) throw error;
    logger.warn(
      { ...context, reason: error.message },
      'payment stays pending: the processor did not report its state',
    );
    return !(error instanceof ProcessorUnavailable);
  }
  if (isToCancel) await transact(db, tx => cancelForDeactivation(tx, id, now));
  else await expire(db, id, 'expired without payment, confirmed by the processor', now);
  return true;
}

async function expire(db: Database, paymentId: string, reason: string, now: Date): Promise<void> {
  await transact(db, tx =>
    movePayment(tx, { paymentId, move: 'expire', actor: 'worker', reason, now }),
  );
}

function isProcessorFailure(error: unknown): error is Error {
  return (
    error instanceof ProcessorUnavailable ||
    error instanceof ProcessorRefused ||
    error instanceof SessionUnknown
  );
}
