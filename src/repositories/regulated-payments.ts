import type { Connection } from '../database/connection.ts';
import type { Payment } from '../database/tables.ts';

/** The payment behind a processor's session, its row held until the transaction ends. */
export function lockPaymentOfSession(
  db: Connection,
  processor: string,
  externalId: string,
): Promise<Payment | undefined> {
  return db
    .selectFrom('payments')
    .selectAll()
    .where('processor', '=', processor)
    .where('external_id', '=', externalId)
    .forUpdate()
    .executeTakeFirst();
}

/** The payment behind a processor's session, with the name of its merchant. */
export function findPaymentOfSession(
  db: Connection,
  processor: string,
  externalId: string,
): Promise<(Payment & { merchant_name: string }) | undefined> {
  return db
    .selectFrom('payments')
    .innerJoin('merchants', 'merchants.id', 'payments.merchant_id')
    .selectAll('payments')
    .select('merchants.name as merchant_name')
    .where('processor', '=', processor)
    .where('external_id', '=', externalId)
    .executeTakeFirst();
}

/** A regulated payment whose time has passed, and its place in the order. */
export interface DueRegulatedPayment {
  readonly id: string;
  readonly processor: string | null;
  readonly external_id: string | null;
  readonly expires_at: Date;
}

interface DueBounds {
  /** The configured processor; null where there is none. */
  readonly processor: string | null;
  /** Its payments are due when they expire by then. */
  readonly askedBy: Date;
  /** Payments that it knows nothing of are due when they expire by then. */
  readonly unaskedBy: Date;
}

/**
 * At most `limit` regulated payments that are due and that no funds have been seen for, soonest
 * first. None is locked: the processor is asked about each before anything changes.
 * @param after The last one of the batch before.
 */
export function listDueRegulated(
  db: Connection,
  { processor, askedBy, unaskedBy }: DueBounds,
  after: DueRegulatedPayment | undefined,
  limit: number,
): Promise<DueRegulatedPayment[]> {
  const due = db
    .selectFrom('payments')
    .select(['id', 'processor', 'external_id', 'expires_at'])
    .where('flow', '=', 'regulated')
    .where('status', '=', 'pending')
    .where('session_status', '=', 'pending')
    .where('expires_at', '<=', askedBy)
    .where(({ eb, or }) => or([eb('processor', '=', processor), eb('expires_at', '<=', unaskedBy)]))
    .orderBy('expires_at')
    .orderBy('id')
    .limit(limit);
  const rest =
    after === undefined
      ? due
      : due.where(({ eb, refTuple, tuple }) =>
          eb(refTuple('expires_at', 'id'), '>', tuple(after.expires_at, after.id)),
        );
  return rest.execute();
}
