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
  /** null where US accounts are not served. */
  readonly processor: Processor | null;
  readonly logger: Log;
}

/**
 * How long a payment whose processor cannot tell of it waits beyond its time, in milliseconds: long
 * enough to put right a configuration that names the wrong processor or account.
 */
const UNASKED_MS = 60 * 60_000;

/**
 * Ends regulated payments whose time has passed, but asks the processor first: a customer may have
 * paid without its notification having come, and nothing leads out of `expired`. Nothing is held
 * while it answers, and of several workers, or a notification at that moment, one wins.
 *
 * A payment that the processor does not answer for stays pending until a later round.
 *
 * @param after The last payment of the batch before.
 * @returns Where to go on; undefined at the end, or when the processor answered for none of them.
 */
export async function expireRegulated(
  dependencies: RegulatedExpiry,
  after: DueRegulatedPayment | undefined,
  now: Date,
  limit: number,
): Promise<DueRegulatedPayment | undefined> {
  const { db, processor } = dependencies;
  const unaskedBy = new Date(now.getTime() - UNASKED_MS);
  const bounds = { processor: processor?.name ?? null, askedBy: now, unaskedBy };
  const due = await listDueRegulated(db, bounds, after, limit);
  const reached = await Promise.all(
    due.map(payment => end(dependencies, payment, payment.expires_at <= unaskedBy, now)),
  );
  return due.length === limit && reached.includes(true) ? due.at(-1) : undefined;
}

/** @returns Whether the payment was dealt with, or its processor answered at least. */
async function end(
  { db, processor, logger }: RegulatedExpiry,
  payment: DueRegulatedPayment,
  overdue: boolean,
  now: Date,
): Promise<boolean> {
  const { id, external_id: externalId } = payment;
  const context = { paymentId: id, processor: payment.processor, externalId };
  const expireUnasked = async () => {
    logger.warn(context, 'payment expired, although no processor could be asked about it');
    await expire(db, id, 'time passed, and no processor could be asked', now);
    return true;
  };

  if (processor === null || payment.processor !== processor.name || externalId === null) {
    return expireUnasked();
  }
  try {
    const news = await processor.readSession(externalId);
    if (news !== null && news.kind !== 'expired') {
      const settlement = await settleRegulated(db, processor.name, news, now);
      logSettlement(logger, processor.name, news, settlement);
      return true;
    }
    // A customer who pays just now makes this fail, and the next round finds the session paid.
    if (news === null) await processor.endSession?.(externalId);
  } catch (error) {
    if (error instanceof SessionUnknown && overdue) return expireUnasked();
    if (!isProcessorFailure(error)) throw error;
    logger.warn(
      { ...context, reason: error.message },
      'payment stays pending: the processor does not say whether it is paid',
    );
    return !(error instanceof ProcessorUnavailable);
  }
  await expire(db, id, 'time passed without payment, says the processor', now);
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
