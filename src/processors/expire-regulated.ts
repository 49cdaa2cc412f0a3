import type { Database } from '../database/connection.ts';
import { inTransaction } from '../database/transaction.ts';
import { movePayment } from '../payments/move-payment.ts';
import {
  type Processor,
  ProcessorRefused,
  ProcessorUnavailable,
  SessionUnknown,
} from '../payments/processor.ts';
import { type DueRegulatedPayment, listDueRegulated } from '../repositories/regulated-payments.ts';
import { type Log, logSettlement } from './receive-notification.ts';
import { settleRegulated } from './settle-regulated.ts';

export interface RegulatedExpiry {
  readonly db: Database;
  /** null if US accounts are not served. */
  readonly processor: Processor | null;
  readonly logger: Log;
}

/**
 * How long past its expiry a payment that no processor knows stays pending, in milliseconds: enough
 * time to fix a configuration that names the wrong processor or account.
 */
const UNCONFIRMED_GRACE_MS = 60 * 60_000;

/**
 * Expires overdue regulated payments, but checks the session at the processor first: the customer
 * may have paid and the notification be lost, and `expired` is final. Holds no lock or connection
 * while the processor answers; if another worker or a notification gets there first, it wins.
 *
 * A payment stays pending until a later run if the processor does not answer.
 *
 * @param after The last payment of the previous batch.
 * @returns The last payment of this batch, to continue from; undefined after the last batch, or if
 * the processor answered for none of the payments.
 */
export async function expireRegulated(
  dependencies: RegulatedExpiry,
  after: DueRegulatedPayment | undefined,
  now: Date,
  limit: number,
): Promise<DueRegulatedPayment | undefined> {
  const { db, processor } = dependencies;
  const graceEnded = new Date(now.getTime() - UNCONFIRMED_GRACE_MS);
  const bounds = { processor: processor?.name ?? null, dueBy: now, unconfirmedDueBy: graceEnded };
  const due = await listDueRegulated(db, bounds, after, limit);
  const answered = await Promise.all(
    due.map(payment =>
      checkAndExpire(dependencies, payment, payment.expires_at <= graceEnded, now),
    ),
  );
  return due.length === limit && answered.includes(true) ? due.at(-1) : undefined;
}

/** @returns Whether the payment expired or was settled, or the processor at least answered. */
async function checkAndExpire(
  { db, processor, logger }: RegulatedExpiry,
  payment: DueRegulatedPayment,
  graceEnded: boolean,
  now: Date,
): Promise<boolean> {
  const { id, external_id: externalId } = payment;
  const context = { paymentId: id, processor: payment.processor, externalId };
  const expireUnconfirmed = async () => {
    logger.warn(context, 'payment expired without confirmation from a processor');
    await expire(db, id, 'expired without confirmation from a processor', now);
    return true;
  };

  if (processor === null || payment.processor !== processor.name || externalId === null) {
    return expireUnconfirmed();
  }
  try {
    const notification = await processor.readSession(externalId);
    if (notification !== null && notification.kind !== 'expired') {
      const settlement = await settleRegulated(db, processor.name, notification, now);
      logSettlement(logger, processor.name, notification, settlement);
      return true;
    }
    // Fails if the customer pays at this moment; the next run then finds the session paid.
    if (notification === null) await processor.endSession?.(externalId);
  } catch (error) {
    if (error instanceof SessionUnknown && graceEnded) return expireUnconfirmed();
    if (!isProcessorFailure(error)) throw error;
    logger.warn(
      { ...context, reason: error.message },
      'payment stays pending: the processor did not report its state',
    );
    return !(error instanceof ProcessorUnavailable);
  }
  await expire(db, id, 'expired without payment, confirmed by the processor', now);
  return true;
}

async function expire(db: Database, paymentId: string, reason: string, now: Date): Promise<void> {
  await inTransaction(db, tx =>
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
